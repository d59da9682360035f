// One delivery: drop or pick clips, watch their progress, pause, resume, cancel.

import { blobSource, type BrowserUplink, type Upload } from 'mocap-uplink/browser'
import { useUpload, type UploadView } from 'mocap-uplink/react'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { Action } from './action.tsx'
import { Earlier, resumeEarlier } from './earlier.tsx'
import { FileRow } from './file-row.tsx'
import { Picker } from './picker.tsx'

export function Delivery({ uplink }: { readonly uplink: BrowserUplink }) {
  const [clips, setClips] = useState<readonly File[]>([])
  const [refusal, setRefusal] = useState('')
  const view = useUpload()
  const { state, isActive, progress, files, waiting, report, error, start, pause, resume, discard, reset } = view
  // What had the focus may be gone: the form before this, an earlier upload that was discarded or picked.
  const picker = useRef<HTMLInputElement>(null)
  const toPicker = (): void => picker.current?.focus()
  useEffect(toPicker, [])

  // Clips that have been delivered are not sent again with the next ones.
  const delivered = new Set(files.filter((file) => file.state === 'confirmed').map(({ name }) => name))
  const left = clips.filter(({ name }) => !delivered.has(name))
  // An earlier upload takes its own clips alone.
  const taken = new Set(files.map(({ name }) => name))
  const beside = clips.filter(({ name }) => !taken.has(name))
  // An upload that did not finish goes on where it was, with the clips that the page still has.
  const unfinished = state === 'partial' || state === 'failed' ? view.upload : undefined

  function add(added: Iterable<File>): void {
    if (isActive) {
      setRefusal('Not added, because an upload is under way. Add them when it has ended.')
      return
    }
    // Those of an upload that did not finish go on in that one, which is offered above once there are others here.
    const kept = unfinished ? [] : left
    // Rows, and what is delivered, are told apart by their names.
    const names = new Set(kept.map(({ name }) => name))
    const [fresh, twice, others]: [File[], File[], File[]] = [[], [], []]
    for (const file of added) {
      const place = !isClip(file) ? others : names.has(file.name) ? twice : fresh
      place.push(file)
      names.add(file.name)
    }
    const refused = refusalOf(others, 'only MP4 and MOV that are not empty are taken')
    setRefusal(`${refused} ${refusalOf(twice, 'a clip of this name is here already')}`.trim())
    // What is here stays here if nothing comes to it.
    if (fresh.length === 0) return
    setClips([...kept, ...fresh])
    reset()
  }
  function drop(event: DragEvent): void {
    event.preventDefault()
    add(event.dataTransfer.files)
  }
  function goOn(key: string, picked: readonly File[]): void {
    const names = new Set(picked.map(({ name }) => name))
    setClips([...clips.filter(({ name }) => !names.has(name)), ...picked])
    setRefusal('')
    start(() => uplink.resume(key, { files: picked }))
    toPicker()
  }
  function deliver(): void {
    setClips(left)
    setRefusal('')
    if (unfinished) start(() => uplink.resume(unfinished.key, { files: left }))
    // Clips of an earlier visit that are dropped again go on where they were. What is new stays here for the next upload.
    else start(async () => (await resumeEarlier(uplink, left)) ?? begin())
  }
  function begin(): Upload {
    return uplink.uploadVideos({
      files: left.map((clip) => ({ source: blobSource(clip), frameRate: 240 })),
      movementTypeId: 1,
      playerId: 'p-17',
      // The local date as 2026-11-20. The UTC date may already be tomorrow's.
      sessionDate: new Date().toLocaleDateString('sv'),
      sessionTypeId: 2,
    })
  }

  const isPaused = state === 'paused' || state === 'pausing'
  const still = isPaused ? 'paused' : isActive ? undefined : 'stopped'
  const verified = report?.files.every((file) => file.verified) ? ', verified' : ''
  const howFar = (confirmed: number): string =>
    progress.filesTotal === 0
      ? 'Nothing uploaded yet'
      : `${WORDS[state] ?? state}: ${String(confirmed)} of ${String(progress.filesTotal)} confirmed${verified}`
  // The page shows every file. A screen reader is told only of every quarter.
  const quarter = Math.max(1, Math.ceil(progress.filesTotal / 4))
  const atQuarters = progress.filesConfirmed - (progress.filesConfirmed % quarter)
  return (
    <section onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {!isActive && <Earlier uplink={uplink} shownKey={unfinished?.key} onPicked={goOn} onGone={toPicker} />}
      <p className="drop">
        Drop clips here, or{' '}
        <Picker input={picker} onPicked={add}>
          pick them
        </Picker>
      </p>
      {refusal && <p role="alert">{refusal}</p>}
      <p>
        <Action isOff={isActive || left.length === 0} onClick={deliver}>
          {unfinished ? 'Try again' : `Upload ${clipWords((isActive ? clips : left).length)}`}
        </Action>
        <Action isOff={!isActive} onClick={isPaused ? resume : pause}>
          {isPaused ? 'Go on' : 'Pause'}
        </Action>
        <Action isOff={!isActive} onClick={discard}>
          Stop{isActive && progress.filesConfirmed > 0 && ` and keep ${String(progress.filesConfirmed)}`}
        </Action>
      </p>
      <progress aria-label="All clips" max={Math.max(1, progress.totalBytes)} value={progress.sentBytes} />
      <p>
        {howFar(progress.filesConfirmed)}
        {state === 'uploading' && timeWords(progress.remainingMs)}
        {waiting && `, ${outageWords(waiting)}`}
      </p>
      <p role="status" className="said">
        {howFar(isActive ? atQuarters : progress.filesConfirmed)}
      </p>
      {error && <p role="alert">{error.message}</p>}
      <ul>
        {files.map((file) => (
          <FileRow key={file.fileIndex} file={file} still={still} />
        ))}
        {beside.map(({ name }) => (
          <li key={name}>
            <bdi>{name}</bdi>
            {files.length > 0 && ': for the next upload'}
          </li>
        ))}
      </ul>
    </section>
  )
}

function clipWords(count: number): string {
  return count === 0 ? 'clips' : count === 1 ? '1 clip' : `${String(count)} clips`
}

/** What the states of an upload are called here, where their own names are not plain enough. */
const WORDS: Partial<Record<UploadView['state'], string>> = {
  creating: 'starting',
  settling: 'finishing',
  confirmed: 'done',
  partial: 'not finished',
  cancelled: 'stopped',
}

/** Nothing while no rate is known, or while only answers are awaited. */
function timeWords(remainingMs: number | undefined): string {
  if (!remainingMs) return ''
  const minutes = Math.round(remainingMs / 60_000)
  return `, ${minutes === 0 ? 'less than a minute' : `${String(minutes)} min`} left`
}

function outageWords({ who, status, sinceMs, untilMs }: NonNullable<UploadView['waiting']>): string {
  const since = new Date(sinceMs).toLocaleTimeString()
  if (!navigator.onLine) return `no network since ${since}`
  const what = status === undefined ? 'gives no answer' : 'takes nothing'
  const next = untilMs === undefined ? 'now' : `at ${new Date(untilMs).toLocaleTimeString()}`
  return `the ${who} ${what} since ${since}, asked again ${next}`
}

function refusalOf(files: readonly File[], why: string): string {
  return files.length === 0 ? '' : `Not added, because ${why}: ${files.map(({ name }) => name).join(', ')}.`
}

function isClip({ name, size }: File): boolean {
  return size > 0 && /\.(?:mp4|mov)$/i.test(name)
}
