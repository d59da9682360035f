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
  /** What was chosen again already. */
  readonly found: readonly ChosenFile[]
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
    ({ key, flow: of, status }) =>
      of === flow && !keysInUse.has(key) && (status === 'open' || status === 'partial' || status === 'failed'),
  )
  return Promise.all(
    open.map(async (session) => ({ session, missing: await uplink.missingFiles(session.key), found: [] })),
  )
}

/** Gives each file to the first offer that misses it, by name, size and time; `rest` is what nobody misses. */
export function feedOffers(
  offers: readonly Offer[],
  files: readonly ChosenFile[],
): { readonly offers: readonly Offer[]; readonly rest: readonly ChosenFile[] } {
  let rest = files
  const fed = offers.map((offer) => {
    const found = rest.filter((chosen) => offer.missing.some((missing) => isSame(missing, chosen.file)))
    if (found.length === 0) return offer
    rest = rest.filter((chosen) => !found.includes(chosen))
    const missing = offer.missing.filter((each) => !found.some(({ file }) => isSame(each, file)))
    return { ...offer, missing, found: [...offer.found, ...found] }
  })
  return { offers: fed, rest }
}

/** Takes an upload up; when files turn out to be missing, the offer that says which. */
export async function resumeOffer(uplink: BrowserUplink, offer: Offer): Promise<ResumedUpload | Offer> {
  const { key } = offer.session
  const files = offer.found.map(({ file }) => file)
  try {
    const upload = await uplink.resume(key, { files })
    const fileOf = ({ name, bytes }: UploadFileStatus): ChosenFile | undefined =>
      offer.found.find(({ file }) => file.name === name && file.size === bytes)
    return { upload, fileOf }
  } catch (error) {
    if (!isUploadError(error) || error.code !== 'ERR_UPLOAD_SOURCE_READ') throw error
    const missing = await uplink.missingFiles(key, files)
    if (missing.length === 0) throw error
    return { ...offer, missing }
  }
}

/** Whether one click is enough: the browser remembers every file that is missing. */
export function isOneClick({ missing }: Offer): boolean {
  return missing.every((file) => file.how === 'allow')
}

function isSame({ name, bytes, modifiedAtMs }: MissingFile, file: File): boolean {
  return file.name === name && file.size === bytes && (modifiedAtMs === undefined || modifiedAtMs === file.lastModified)
}
