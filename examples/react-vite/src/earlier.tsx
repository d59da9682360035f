// Uploads that an earlier visit left unfinished, after a reload or a closed tab. To resume one, the user picks or drops its
// missing clips again, and it continues with what is not confirmed yet. It can also be discarded.

import { drivenSessions, type BrowserUplink, type Upload } from 'mocap-uplink/browser'
import { useEffect, useState } from 'react'
import { EarlierUpload, type Unfinished } from './earlier-upload.tsx'

interface EarlierProps {
  readonly uplink: BrowserUplink
  /** The upload that the page still shows is not offered a second time. */
  readonly shownKey: string | undefined
  readonly onPicked: (key: string, clips: readonly File[]) => void
  /** One that was discarded is gone, and with it the button that had the focus. */
  readonly onGone: () => void
}

export function Earlier({ uplink, shownKey, onPicked, onGone }: EarlierProps) {
  const [left, setLeft] = useState<readonly Unfinished[]>([])
  useEffect(() => {
    let isShown = true
    // Without a journal there is nothing to resume, and no error to show.
    unfinished(uplink).then(
      (found) => isShown && setLeft(found),
      () => undefined,
    )
    return () => {
      isShown = false
    }
  }, [uplink])
  function onDiscarded(key: string): void {
    setLeft((shown) => shown.filter((session) => session.key !== key))
    onGone()
  }
  return left
    .filter(({ key }) => key !== shownKey)
    .map((session) => <EarlierUpload key={session.key} {...{ uplink, session, onPicked, onDiscarded }} />)
}

/** Resumes the first of them whose missing clips are all among these. Undefined if there is none. */
export async function resumeEarlier(uplink: BrowserUplink, clips: readonly File[]): Promise<Upload | undefined> {
  // Without a journal there is nothing to resume, and everything begins anew.
  for (const { key, missing } of await unfinished(uplink).catch(() => [])) {
    const still = await uplink.missingFiles(key, clips)
    if (missing.length > 0 && still.length === 0) return uplink.resume(key, { files: clips })
  }
  return undefined
}

/** Unfinished sessions and the clips that each misses, without those that another tab is driving. */
async function unfinished(uplink: BrowserUplink): Promise<readonly Unfinished[]> {
  const isDriven = await drivenSessions()
  const left = (await uplink.sessions()).filter(
    ({ key, status }) => ['open', 'partial', 'failed'].includes(status) && !isDriven(key),
  )
  return Promise.all(left.map(async (session) => ({ ...session, missing: await uplink.missingFiles(session.key) })))
}
