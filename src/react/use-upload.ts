// The hook: the view of an upload store together with its methods. It starts nothing by itself, so neither a second mount nor
// StrictMode can upload twice.

import { useMemo, useState, useSyncExternalStore } from 'react'
import { createUploadStore, type UploadStore } from './upload-store.ts'
import { NOTHING_YET, type UploadView } from './upload-view.ts'

/** What the component shows, and the verbs for its buttons, which never throw. */
export interface UseUpload
  extends UploadView, Pick<UploadStore, 'start' | 'pause' | 'resume' | 'cancel' | 'discard' | 'reset'> {}

/**
 * Shows one upload, and renders at most once a frame. Without a `store` the upload belongs to the component; if that is
 * unmounted, the upload goes on unseen. To see it in two places, or again after a change of page, create a store outside
 * with `createUploadStore()` and pass it to each.
 */
export function useUpload(store?: UploadStore): UseUpload {
  const [own] = useState(() => createUploadStore())
  const shown = store ?? own
  const view = useSyncExternalStore(shown.subscribe, shown.view, nothingYet)
  return useMemo(() => {
    const { start, pause, resume, cancel, discard, reset } = shown
    return { ...view, start, pause, resume, cancel, discard, reset }
  }, [shown, view])
}

/** What a server renders. A page renders the same at first, so that the two match. */
function nothingYet(): UploadView {
  return NOTHING_YET
}
