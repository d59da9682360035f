// Uploads that an earlier visit left unfinished, after a reload or a closed tab. Uppy forgets its files with the page, so
// the user adds them again. The upload then continues in the session in which it began, with what is not confirmed yet.

import { drivenSessions, type BrowserUplink, type SessionFile } from 'mocap-uplink/browser'
import type { ResumedUpload } from './mocap-uplink-uploader.ts'

/** Of many missing files, only the first are named. */
const NAMED = 5

/**
 * Shows for each which files are missing, with a button that discards it. Nothing is said of an upload whose missing files are all
 * among those that the dashboard shows: a retry there resumes it.
 */
export async function showEarlier(uplink: BrowserUplink, place: Element, shown: () => readonly File[]): Promise<void> {
  const left = (await unfinished(uplink)).filter(({ missing }) => {
    const files = shown()
    return !missing.every((each) => files.some((file) => isSame(each, file)))
  })
  const notes = left.map(({ key, missing, filesConfirmed, filesTotal }) => {
    const named = missing.slice(0, NAMED).map(({ fileName }) => fileName)
    const names = `${named.join(', ')}${missing.length > NAMED ? ` and ${String(missing.length - NAMED)} more` : ''}`
    const discard = document.createElement('button')
    discard.textContent = 'Discard'
    discard.addEventListener('click', () => {
      const kept =
        filesConfirmed > 0
          ? `${String(filesConfirmed)} of its files stay confirmed.`
          : 'None of its files is confirmed.'
      if (!confirm(`Give this upload up? ${kept}`)) return
      void uplink.discardSession(key).then(
        () => showEarlier(uplink, place, shown),
        (error: unknown) => note.append(` ${String(error)}`),
      )
    })
    const note = document.createElement('p')
    const done = `${String(filesConfirmed)} of ${String(filesTotal)} confirmed`
    note.append(`An earlier upload is not finished, ${done}. Add these again, and it goes on: ${names} `, discard)
    return note
  })
  place.replaceChildren(...notes)
}

/**
 * Resumes each upload that misses some of `files`, if every file that it misses is in `files` or `beside`. Its confirmed files that were
 * added again with them go there too, or they would be uploaded anew.
 */
export async function resumeEarlier(
  uplink: BrowserUplink,
  files: readonly File[],
  beside: readonly File[],
): Promise<readonly ResumedUpload[]> {
  const free = new Set([...files, ...beside])
  const take = (wanted: readonly SessionFile[]): Map<number, File> => {
    const found = new Map<number, File>()
    for (const each of wanted) {
      const file = [...free].find((one) => isSame(each, one))
      if (file === undefined) continue
      free.delete(file)
      found.set(each.fileIndex, file)
    }
    return found
  }
  const resumed: ResumedUpload[] = []
  for (const { key, missing, confirmed } of await unfinished(uplink)) {
    const found = take(missing)
    const isWhole = found.size === missing.length && [...found.values()].some((file) => files.includes(file))
    // One that cannot be resumed, for example because another tab was quicker, must not leave those already resumed unattended.
    const upload = isWhole ? await uplink.resume(key, { files: [...found.values()] }).catch(() => undefined) : undefined
    if (upload === undefined) found.forEach((file) => free.add(file))
    else resumed.push({ upload, files: new Map([...found, ...take(confirmed)]) })
  }
  return resumed
}

function isSame({ fileName, bytes, modifiedAtMs }: SessionFile, { name, size, lastModified }: File): boolean {
  return name === fileName && size === bytes && lastModified === modifiedAtMs
}

/** Unfinished sessions, each with its files, without those that this page or another tab is driving. */
async function unfinished(uplink: BrowserUplink) {
  const isDriven = await drivenSessions()
  const left = (await uplink.sessions()).filter(
    ({ key, status }) => ['open', 'partial', 'failed'].includes(status) && !isDriven(key),
  )
  return Promise.all(
    left.map(async (session) => {
      const files = await uplink.sessionFiles(session.key)
      const missing = files.filter(({ how }) => how !== undefined)
      return { ...session, missing, confirmed: files.filter(({ how }) => how === undefined) }
    }),
  )
}
