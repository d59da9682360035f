// Uploads that an earlier visit left unfinished, after a reload or a closed tab. Uppy forgets its files with the page, so
// the user adds them again. The upload then continues in the session in which it began, with what is not confirmed yet.

import { drivenSessions, type BrowserUplink } from 'mocap-uplink/browser'
import type { ResumedUpload } from './mocap-uplink-uploader.ts'

/** Shows for each which files are missing, with a button that discards it. */
export async function showEarlier(uplink: BrowserUplink, place: Element): Promise<void> {
  const left = await unfinished(uplink)
  const notes = left.map(({ key, missing, filesConfirmed, filesTotal }) => {
    const names = missing.map(({ fileName }) => fileName).join(', ')
    const discard = document.createElement('button')
    discard.textContent = 'Discard'
    discard.addEventListener('click', () => {
      const kept =
        filesConfirmed > 0
          ? `${String(filesConfirmed)} of its files stay confirmed.`
          : 'None of its files is confirmed.'
      if (confirm(`Give this upload up? ${kept}`))
        void uplink.discardSession(key).then(() => showEarlier(uplink, place))
    })
    const note = document.createElement('p')
    const done = `${String(filesConfirmed)} of ${String(filesTotal)} confirmed`
    note.append(`An earlier upload is not finished, ${done}. Add these again, and it goes on: ${names} `, discard)
    return note
  })
  place.replaceChildren(...notes)
}

/** Resumes each upload that misses some of `files`, if every file that it misses is in `files` or `beside`. */
export async function resumeEarlier(
  uplink: BrowserUplink,
  files: readonly File[],
  beside: readonly File[],
): Promise<readonly ResumedUpload[]> {
  const free = new Set([...files, ...beside])
  const resumed: ResumedUpload[] = []
  for (const { key, missing } of await unfinished(uplink)) {
    const found = new Map<number, File>()
    for (const { fileIndex, fileName, bytes, modifiedAtMs } of missing) {
      const file = [...free].find(
        ({ name, size, lastModified }) => name === fileName && size === bytes && lastModified === modifiedAtMs,
      )
      if (file === undefined) continue
      free.delete(file)
      found.set(fileIndex, file)
    }
    const isWhole = found.size === missing.length && [...found.values()].some((file) => files.includes(file))
    // One that cannot be resumed, for example because another tab was quicker, must not leave those already resumed unattended.
    const upload = isWhole ? await uplink.resume(key, { files: [...found.values()] }).catch(() => undefined) : undefined
    if (upload === undefined) found.forEach((file) => free.add(file))
    else resumed.push({ upload, files: found })
  }
  return resumed
}

/** Unfinished sessions with the files that each misses, without those that this page or another tab is driving. */
async function unfinished(uplink: BrowserUplink) {
  const isDriven = await drivenSessions()
  const left = (await uplink.sessions()).filter(
    ({ key, status }) => ['open', 'partial', 'failed'].includes(status) && !isDriven(key),
  )
  return Promise.all(left.map(async (session) => ({ ...session, missing: await uplink.missingFiles(session.key) })))
}
