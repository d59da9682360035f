// The hook: what an upload store shows, and its verbs. It starts nothing by itself, so that neither a second mount nor
// StrictMode can upload twice.

import { useMemo, useState, useSyncExternalStore } from 'react'
import { createUploadStore, type UploadStore } from './upload-store.ts'
import { NOTHING_YET, type UploadView } from './upload-view.ts'

export interface UseUpload
  extends UploadView, Pick<UploadStore, 'start' | 'pause' | 'resume' | 'cancel' | 'discard' | 'reset'> {}

/**
 * Shows one upload, rendering at most once a frame. Without a store of yours the upload belongs to the component; when that
 * is unmounted the upload goes on, unseen. To see it in two places, or again after a change of page, make a store with
 * `createUploadStore()` outside and give it to each.
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

/** What a server renders, and a page at first, so that both are equal. */
function nothingYet(): UploadView {
  return NOTHING_YET
}
