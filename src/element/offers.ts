// Unfinished uploads of an earlier life of the page: found in the journal, offered, supplied with files that are chosen again,
// and resumed when none is missing.

import type { BrowserUplink, SessionFile } from '../browser.ts'
import { summarize } from '../core/errors.ts'
import type { SessionSummary } from '../flows/sessions.ts'
import type { Upload } from '../flows/upload.ts'
import type { ChosenFile } from './chosen-files.ts'
import { isSameFile, namesakesAmong } from './file-identity.ts'
import type { Setting } from './setting.ts'

export interface Offer {
  readonly session: SessionSummary
  /** All files of the session. The confirmed ones are among them, so that they are not uploaded anew beside the offer. */
  readonly files: readonly SessionFile[]
  /** The files that were chosen again already, by file index. */
  readonly found: ReadonlyMap<number, ChosenFile>
  /** The files that the person has to choose again or allow. */
  readonly missing: readonly SessionFile[]
}

/** The unfinished sessions of this flow, oldest first, except those in `keysInUse`. */
export async function findOffers(
  uplink: BrowserUplink,
  flow: string,
  keysInUse: ReadonlySet<string>,
): Promise<Offer[]> {
  const open = (await uplink.sessions()).filter(
    ({ key, flow: of, status }) => of === flow && !keysInUse.has(key) && ['open', 'partial', 'failed'].includes(status),
  )
  return Promise.all(open.map(async (session) => offerOf(session, await uplink.sessionFiles(session.key))))
}

/** The offer of all files of the session, in order. It keeps those of `found` that it needs from the person. */
export function offerOf(
  session: SessionSummary,
  files: readonly SessionFile[],
  found: Offer['found'] = new Map(),
): Offer {
  return {
    session,
    files,
    found: new Map([...found].filter(([index]) => files[index]?.how)),
    missing: files.filter(({ how, fileIndex }) => how && !found.has(fileIndex)),
  }
}

/**
 * Gives each file to the first offer that misses it, by name, size and time. `complete` lists the offers that got a file and now
 * miss none. Such an offer also takes the files that it already had. `rest` is what no offer takes.
 */
export function feedOffers<Chosen extends ChosenFile>(
  offers: readonly Offer[],
  files: readonly Chosen[],
): { readonly offers: readonly Offer[]; readonly complete: readonly Offer[]; readonly rest: readonly Chosen[] } {
  let rest = files
  const take = (found: Map<number, ChosenFile>, wanted: readonly SessionFile[]): void => {
    const named = namesakesAmong(wanted)
    rest = rest.filter((chosen) => {
      // Each chosen file fills one missing file, even if two look the same.
      const same = named.of(chosen).find((each) => !found.has(each.fileIndex) && isSameFile(each, chosen))
      if (same) found.set(same.fileIndex, chosen)
      return !same
    })
  }
  const fed = offers.map((offer) => {
    const found = new Map<number, ChosenFile>()
    take(found, offer.missing)
    return { found, offer: offerOf(offer.session, offer.files, new Map([...offer.found, ...found])) }
  })
  // Only once all offers have what they miss: one may miss a file that another already has.
  const complete = fed.flatMap(({ found, offer }) => {
    if (offer.missing.length > 0) return []
    take(found, offer.files)
    return found.size > 0 ? [offer] : []
  })
  return { offers: fed.map(({ offer }) => offer), complete, rest }
}

/** Resumes an upload. If files turn out to be missing, resolves with an offer that says which. */
export async function resumeOffer(
  uplink: BrowserUplink,
  offer: Offer,
  resume: Setting['resume'],
): Promise<Upload | Offer> {
  const { key } = offer.session
  const files = [...offer.found.values()].map(({ file }) => file)
  try {
    return await resume(uplink, key, { files })
  } catch (error) {
    if (summarize(error).code !== 'ERR_UPLOAD_SOURCE_READ') throw error
    const missing = await uplink.missingFiles(key, files)
    if (missing.length === 0) throw error
    // Files that have changed since they were chosen can be chosen once more.
    const found = new Map(offer.found)
    for (const { fileIndex } of missing) found.delete(fileIndex)
    return offerOf(offer.session, await uplink.sessionFiles(key), found)
  }
}

/** Whether one click is enough, because the browser remembers every missing file. */
export function isOneClick({ missing }: Offer): boolean {
  return missing.every((file) => file.how === 'allow')
}
