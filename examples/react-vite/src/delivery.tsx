// One delivery: drop or pick clips, watch their progress, pause, resume, cancel.

import { blobSource, type BrowserUplink } from 'mocap-uplink/browser'
import { useUpload, type UploadView } from 'mocap-uplink/react'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { Action } from './action.tsx'
import { Earlier } from './earlier.tsx'
import { FileRow } from './file-row.tsx'

export function Delivery({ uplink }: { readonly uplink: BrowserUplink }) {
  const [clips, setClips] = useState<readonly File[]>([])
  const [refused, setRefused] = useState<readonly string[]>([])
  const { state, isActive, progress, files, waiting, report, error, start, pause, resume, discard, reset } = useUpload()
  // What had the focus may be gone: the form before this, an earlier upload that was discarded or picked.
  const picker = useRef<HTMLInputElement>(null)
  const toPicker = (): void => picker.current?.focus()
  useEffect(toPicker, [])

  function add(added: Iterable<File> | null): void {
    if (isActive || added === null) return
    // Clips that have been delivered are not sent again with the next ones.
    const kept = report?.status === 'confirmed' ? [] : clips
    const names = new Set(kept.map(({ name }) => name))
    const fresh = [...added].filter(({ name }) => !names.has(name))
    setClips([...kept, ...fresh.filter(isClip)])
    setRefused(fresh.filter((file) => !isClip(file)).map(({ name }) => name))
    reset()
  }
  function drop(event: DragEvent): void {
    event.preventDefault()
    add(event.dataTransfer.files)
  }
  function goOn(key: string, picked: readonly File[]): void {
    start(() => uplink.resume(key, { files: picked }))
    toPicker()
  }
  function deliver(): void {
    start(() =>
      uplink.uploadVideos({
        files: clips.map((clip) => ({ source: blobSource(clip), frameRate: 240 })),
        movementTypeId: 1,
        playerId: 'p-17',
        // The local date as 2026-11-20. The UTC date may already be tomorrow's.
        sessionDate: new Date().toLocaleDateString('sv'),
        sessionTypeId: 2,
      }),
    )
  }

  const isPaused = state === 'paused' || state === 'pausing'
  const verified = report?.files.every((file) => file.verified) ? ', verified' : ''
  const howFar = (confirmed: number): string =>
    progress.filesTotal === 0
      ? 'Nothing uploaded yet'
      : `${state}: ${String(confirmed)} of ${String(progress.filesTotal)} confirmed${verified}`
  // The page shows every file. A screen reader is told only of every quarter.
  const quarter = Math.max(1, Math.ceil(progress.filesTotal / 4))
  const atQuarters = progress.filesConfirmed - (progress.filesConfirmed % quarter)
  return (
    <section onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {!isActive && <Earlier uplink={uplink} onPicked={goOn} onGone={toPicker} />}
      <p className="drop">
        Drop clips here, or{' '}
        <label>
          pick them{' '}
          <input ref={picker} type="file" multiple accept=".mp4,.mov" onChange={(event) => add(event.target.files)} />
        </label>
      </p>
      {refused.length > 0 && (
        <p role="alert">Not added, because only MP4 and MOV that are not empty are taken: {refused.join(', ')}</p>
      )}
      <p>
        <Action isOff={isActive || clips.length === 0 || report?.status === 'confirmed'} onClick={deliver}>
          Upload {clips.length > 0 && clips.length} {clips.length === 1 ? 'clip' : 'clips'}
        </Action>
        <Action isOff={!isActive} onClick={isPaused ? resume : pause}>
          {isPaused ? 'Go on' : 'Pause'}
        </Action>
        <Action isOff={!isActive} onClick={discard}>
          Stop{progress.filesConfirmed > 0 && ` and keep ${String(progress.filesConfirmed)}`}
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
        {files.length > 0
          ? files.map((file) => <FileRow key={file.fileIndex} file={file} isPaused={isPaused} />)
          : clips.map(({ name }) => (
              <li key={name}>
                <bdi>{name}</bdi>
              </li>
            ))}
      </ul>
    </section>
  )
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

function isClip({ name, size }: File): boolean {
  return size > 0 && /\.(?:mp4|mov)$/i.test(name)
}
