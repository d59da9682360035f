// Uploads of an earlier life of the page that are not finished: found in the journal, offered, fed with the files that
// are chosen again, and taken up when none is missing.

import type { BrowserUplink, MissingFile } from '../browser.ts'
import { isUploadError } from '../core/errors.ts'
import type { SessionSummary } from '../flows/sessions.ts'
import type { Upload, UploadFileStatus } from '../flows/upload.ts'
import type { ChosenFile } from './chosen-files.ts'

export interface Offer {
  readonly session: SessionSummary
  /** What the person has to choose again or allow. */
  readonly missing: readonly MissingFile[]
  /** What was chosen again already, by file index. */
  readonly found: ReadonlyMap<number, ChosenFile>
}

export interface ResumedUpload {
  readonly upload: Upload
  readonly fileOf: (status: UploadFileStatus) => ChosenFile | undefined
}

/** Sessions of this flow that something is left to do of, oldest first, without those in `keysInUse`. */
export async function findOffers(
  uplink: BrowserUplink,
  flow: string,
  keysInUse: ReadonlySet<string>,
): Promise<Offer[]> {
  const open = (await uplink.sessions()).filter(
    ({ key, flow: of, status }) => of === flow && !keysInUse.has(key) && ['open', 'partial', 'failed'].includes(status),
  )
  return Promise.all(
    open.map(async (session) => ({ session, missing: await uplink.missingFiles(session.key), found: new Map() })),
  )
}

/** Gives each file to the first offer that misses it, by name, size and time; `rest` is what nobody misses. */
export function feedOffers(
  offers: readonly Offer[],
  files: readonly ChosenFile[],
): { readonly offers: readonly Offer[]; readonly rest: readonly ChosenFile[] } {
  let rest = files
  const fed = offers.map((offer) => {
    const found = new Map(offer.found)
    rest = rest.filter((chosen) => {
      // One file for one that is missing, though two may look the same.
      const wanted = offer.missing.find((each) => !found.has(each.fileIndex) && isSame(each, chosen.file))
      if (wanted !== undefined) found.set(wanted.fileIndex, chosen)
      return wanted === undefined
    })
    if (found.size === offer.found.size) return offer
    return { ...offer, found, missing: offer.missing.filter(({ fileIndex }) => !found.has(fileIndex)) }
  })
  return { offers: fed, rest }
}

/** The offer with those files chosen that were chosen for it before, of those that it misses. */
export function keepFound(offer: Offer, before: Offer | undefined): Offer {
  const found = new Map(
    [...(before?.found ?? [])].filter(([index]) => offer.missing.some((file) => file.fileIndex === index)),
  )
  return { ...offer, found, missing: offer.missing.filter(({ fileIndex }) => !found.has(fileIndex)) }
}

/** Takes an upload up; when files turn out to be missing, the offer that says which. */
export async function resumeOffer(uplink: BrowserUplink, offer: Offer): Promise<ResumedUpload | Offer> {
  const { key } = offer.session
  const files = [...offer.found.values()].map(({ file }) => file)
  try {
    const upload = await uplink.resume(key, { files })
    return { upload, fileOf: ({ fileIndex }) => offer.found.get(fileIndex) }
  } catch (error) {
    if (!isUploadError(error) || error.code !== 'ERR_UPLOAD_SOURCE_READ') throw error
    const missing = await uplink.missingFiles(key, files)
    if (missing.length === 0) throw error
    // Those no more as they were when they were chosen can be chosen once more.
    const found = new Map([...offer.found].filter(([index]) => missing.every(({ fileIndex }) => fileIndex !== index)))
    return { ...offer, missing, found }
  }
}

/** Whether one click is enough: the browser remembers every file that is missing. */
export function isOneClick({ missing }: Offer): boolean {
  return missing.every((file) => file.how === 'allow')
}

function isSame({ fileName, bytes, modifiedAtMs }: MissingFile, file: File): boolean {
  return (
    file.name === fileName && file.size === bytes && (modifiedAtMs === undefined || modifiedAtMs === file.lastModified)
  )
}
