// One unfinished upload of an earlier visit: which clips it misses, a way to pick them, and one to give it up.

import type { BrowserUplink } from 'mocap-uplink/browser'
import { useState } from 'react'
import { Picker } from './picker.tsx'

type Session = Awaited<ReturnType<BrowserUplink['sessions']>>[number]
type Missing = Awaited<ReturnType<BrowserUplink['missingFiles']>>

export interface Unfinished extends Session {
  readonly missing: Missing
}

interface EarlierUploadProps {
  readonly uplink: BrowserUplink
  readonly session: Unfinished
  readonly onPicked: (key: string, clips: readonly File[]) => void
  readonly onDiscarded: (key: string) => void
}

export function EarlierUpload({ uplink, session, onPicked, onDiscarded }: EarlierUploadProps) {
  const { key, filesConfirmed, filesTotal } = session
  const [missing, setMissing] = useState(session.missing)
  const [picked, setPicked] = useState<readonly File[]>([])
  const [problem, setProblem] = useState('')

  async function pick(clips: readonly File[]): Promise<void> {
    const all = [...picked, ...clips]
    try {
      const still = await uplink.missingFiles(key, all)
      if (still.length === 0) {
        onPicked(key, all)
        return
      }
      setPicked(all)
      setMissing(still)
      setProblem(still.length < missing.length ? '' : `It still needs these, as they were: ${namesOf(still)}`)
    } catch (error) {
      setProblem(String(error))
    }
  }
  async function discard(): Promise<void> {
    const kept =
      filesConfirmed > 0 ? `${filesConfirmed} of its clips stay confirmed.` : 'None of its clips is confirmed.'
    if (!confirm(`Give this upload up? ${kept}`)) return
    try {
      await uplink.discardSession(key)
      onDiscarded(key)
    } catch (error) {
      setProblem(String(error))
    }
  }

  return (
    <fieldset className="earlier">
      <legend>
        An earlier upload, {filesConfirmed} of {filesTotal} confirmed
      </legend>
      <p>
        To go on, pick these again: <bdi>{namesOf(missing)}</bdi>
      </p>
      <p role="alert">{problem}</p>
      <Picker onPicked={(clips) => void pick(clips)}>Pick its clips</Picker>
      <button onClick={() => void discard()}>Discard</button>
    </fieldset>
  )
}

/** Of many missing clips, only the first are named. */
const NAMED = 5

function namesOf(missing: Missing): string {
  const named = missing.slice(0, NAMED).map(({ fileName }) => fileName)
  return `${named.join(', ')}${missing.length > NAMED ? ` and ${String(missing.length - NAMED)} more` : ''}`
}
