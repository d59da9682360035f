// Uploads that an earlier visit left unfinished, after a reload or a closed tab. To resume one, the user picks its
// clips again, and it continues with what is not confirmed yet. It can also be discarded.

import { drivenSessions, type BrowserUplink } from 'mocap-uplink/browser'
import { useEffect, useState } from 'react'

type Session = Awaited<ReturnType<BrowserUplink['sessions']>>[number]

interface EarlierProps {
  readonly uplink: BrowserUplink
  readonly onPicked: (key: string, clips: readonly File[]) => void
  /** One that was discarded is gone, and with it the button that had the focus. */
  readonly onGone: () => void
}

export function Earlier({ uplink, onPicked, onGone }: EarlierProps) {
  const [left, setLeft] = useState<readonly Session[]>([])
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
  async function discard({ key, filesConfirmed }: Session): Promise<void> {
    const kept =
      filesConfirmed > 0 ? `${filesConfirmed} of its clips stay confirmed.` : 'None of its clips is confirmed.'
    if (!confirm(`Give this upload up? ${kept}`)) return
    await uplink.discardSession(key)
    setLeft((shown) => shown.filter((session) => session.key !== key))
    onGone()
  }
  return left.map((session) => (
    <fieldset key={session.key} className="earlier">
      <legend>
        An earlier upload, {session.filesConfirmed} of {session.filesTotal} confirmed
      </legend>
      <label>
        To go on, pick its clips again{' '}
        <input
          type="file"
          multiple
          accept=".mp4,.mov"
          onChange={(event) => onPicked(session.key, [...(event.target.files ?? [])])}
        />
      </label>
      <button onClick={() => void discard(session)}>Discard</button>
    </fieldset>
  ))
}

/** Unfinished sessions, without those that another tab is driving. */
async function unfinished(uplink: BrowserUplink): Promise<readonly Session[]> {
  const isDriven = await drivenSessions()
  return (await uplink.sessions()).filter(
    ({ key, status }) => ['open', 'partial', 'failed'].includes(status) && !isDriven(key),
  )
}
