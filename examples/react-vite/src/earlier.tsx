// Uploads that an earlier visit left unfinished, after a reload or a closed tab. To resume one, the user picks its
// clips again, and it continues with what is not confirmed yet. It can also be discarded.

import { drivenSessions, type BrowserUplink } from 'mocap-uplink/browser'
import { useEffect, useState } from 'react'

type Session = Awaited<ReturnType<BrowserUplink['sessions']>>[number]

interface EarlierProps {
  readonly uplink: BrowserUplink
  readonly onPicked: (key: string, clips: readonly File[]) => void
}

export function Earlier({ uplink, onPicked }: EarlierProps) {
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
  }
  return left.map((session) => (
    <p key={session.key} className="earlier">
      <label>
        An earlier upload is not finished, {session.filesConfirmed} of {session.filesTotal} confirmed. To go on, pick
        its clips again{' '}
        <input
          type="file"
          multiple
          accept=".mp4,.mov"
          onChange={(event) => onPicked(session.key, [...(event.target.files ?? [])])}
        />
      </label>
      <button onClick={() => void discard(session)}>Discard</button>
    </p>
  ))
}

/** Unfinished sessions, without those that another tab is driving. */
async function unfinished(uplink: BrowserUplink): Promise<readonly Session[]> {
  const isDriven = await drivenSessions()
  return (await uplink.sessions()).filter(
    ({ key, status }) => ['open', 'partial', 'failed'].includes(status) && !isDriven(key),
  )
}
