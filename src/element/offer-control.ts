// What a person does with the offers: resumes one, supplies it with files that are chosen again, or gives it up.

import { drivenSessions, type BrowserUplink, type SessionFile } from '../browser.ts'
import type { Upload } from '../flows/upload.ts'
import type { ChosenFile } from './chosen-files.ts'
import { feedOffers, findOffers, isOneClick, offerOf, resumeOffer, type Offer } from './offers.ts'
import type { Setting } from './setting.ts'

/** How often to check whether another tab still drives an unfinished upload, ms. */
const DRIVEN_EVERY_MS = 1_000

/** How long a click waits for a look, ms. A look may never end, as where the disk of a file that the browser remembers hangs. */
const LOOK_WITHIN_MS = 5_000

export interface OfferControl {
  readonly offers: readonly Offer[]
  /** The files of uploads that another tab, or another element of this page, drives. */
  readonly driven: readonly SessionFile[]
  accept(key: string): Promise<void>
  discard(key: string): Promise<void>
  /** Gives each file to the offer that it belongs to, and resumes the offers that are complete. Returns the files that no offer takes. */
  feed<Chosen extends ChosenFile>(files: readonly Chosen[]): readonly Chosen[]
  /**
   * Looks for unfinished uploads of an earlier life of the page. An upload that another tab drives is offered once that tab no
   * longer does. Of looks that overlap, only the newest counts, and all resolve with it. A failure is not reported.
   */
  look(): Promise<void>
}

/** What a cancel may give up. */
export interface AtStake {
  readonly filesConfirmed: number
  readonly filesTotal: number
  /** Parts of a file may be confirmed before any file is. */
  readonly confirmedBytes: number
}

export interface OfferControlOptions {
  /** The element. While it is not in the page, the other tabs are not checked. */
  readonly target: { readonly isConnected: boolean }
  /** Runs work that needs an Uplink, and shows what goes wrong. */
  readonly attempt: (work: (uplink: BrowserUplink) => Promise<void>) => Promise<void>
  readonly setting: () => Pick<Setting, 'uplink' | 'flow' | 'resume'>
  /** The keys of the uploads that the element has itself. They are not offered. */
  readonly keysInUse: () => ReadonlySet<string>
  /** Opens the picker. */
  readonly choose: () => void
  /** Asks before uploaded bytes are given up. Confirmed files stay. */
  readonly mayDiscard: (atStake: AtStake) => Promise<unknown>
  readonly onTaken: (uplink: BrowserUplink, upload: Upload, offer: Offer) => void
  readonly onDiscarded: (session: AtStake) => void
  /** Called after each look. */
  readonly onLooked: () => void
  readonly onChange: () => void
}

export function createOfferControl(options: OfferControlOptions): OfferControl {
  const { attempt, setting, target, onChange } = options
  let offers: readonly Offer[] = []
  let driven: readonly SessionFile[] = []
  /** The keys of offers that are being resumed, after a click or their last file, or being given up. */
  const busy = new Set<string>()
  /** The number of looks so far. Of looks that overlap, only the newest counts. */
  let looks = 0
  /** The newest look. Rejects if the journal cannot be read. */
  let looking = Promise.resolve()
  const find = (key: string): Offer | undefined => offers.find(({ session }) => session.key === key)

  const once = async (key: string, work: (uplink: BrowserUplink) => Promise<void>): Promise<void> => {
    if (busy.has(key)) return
    busy.add(key)
    await attempt(work)
    busy.delete(key)
  }
  /** The offer as it is now. Another tab, or another element of the page, may have resumed it, confirmed more of it, or drive it now. */
  const seenAgain = async (key: string): Promise<Offer | undefined> => {
    // A look that failed finds nothing. Its error is shown to the person whom it keeps from going on.
    await attempt(() => inTime(control.look().then(() => looking)))
    return find(key)
  }
  /** An offer that is over. A look that is under way no longer counts, because it may still find it. */
  const remove = (key: string): void => {
    offers = offers.filter(({ session }) => session.key !== key)
    void control.look()
  }
  const watch = (watched: readonly Offer[], own: number): void => {
    const check = async (): Promise<void> => {
      if (own !== looks || !target.isConnected) return
      const isDriven = await drivenSessions()
      if (watched.every(({ session }) => isDriven(session.key))) watch(watched, own)
      else void control.look()
    }
    setTimeout(() => void check(), DRIVEN_EVERY_MS)
  }
  const look = async (own: number): Promise<void> => {
    let found: readonly Offer[] = []
    let elsewhere: readonly Offer[] = []
    try {
      const { flow, uplink: uplinkOf } = setting()
      const keysInUse = options.keysInUse()
      const uplink = uplinkOf()
      // Asked before the journal is read: an upload that ends in between counts as driven, and is looked at again.
      const isDriven = await drivenSessions()
      // Of many looks that come together, only the newest reads the journal. A portable Uplink knows no files of an earlier life.
      if (own === looks && uplink && 'sessionFiles' in uplink) found = await findOffers(uplink, flow, keysInUse)
      elsewhere = found.filter(({ session }) => isDriven(session.key) && !busy.has(session.key))
    } finally {
      // Without a journal there is nothing to offer. The error is shown when somebody acts.
      if (own === looks) {
        if (elsewhere.length > 0) watch(elsewhere, own)
        driven = elsewhere.flatMap(({ files }) => files)
        // Files that were chosen again stay chosen.
        offers = found
          .filter((offer) => !elsewhere.includes(offer))
          .map(({ session, files }) => offerOf(session, files, find(session.key)?.found))
        options.onLooked()
        onChange()
      }
    }
  }

  /** Resumes an offer if nothing is missing. Otherwise shows what is. */
  const goOn = async (uplink: BrowserUplink, offer: Offer): Promise<void> => {
    const { key } = offer.session
    const outcome = offer.missing.length > 0 ? offer : await resumeOffer(uplink, offer, setting().resume)
    if ('session' in outcome) offers = offers.map((other) => (other.session.key === key ? outcome : other))
    else {
      options.onTaken(uplink, outcome, offer)
      remove(key)
    }
    onChange()
  }

  const control: OfferControl = {
    get offers() {
      return offers
    },
    get driven() {
      return driven
    },
    async accept(key) {
      const offer = find(key)
      if (!offer) return
      if (!isOneClick(offer)) {
        options.choose()
        return
      }
      if (!(await seenAgain(key))) return
      await once(key, async (uplink) => {
        await uplink.allowFiles(key)
        const files = await uplink.sessionFiles(key)
        // Files may have been chosen meanwhile.
        await goOn(uplink, offerOf(offer.session, files, find(key)?.found))
      })
    },
    async discard(key) {
      const session = (await seenAgain(key))?.session
      if (!session) return
      await once(key, async (uplink) => {
        if (!(await options.mayDiscard(session))) return
        await uplink.discardSession(key)
        options.onDiscarded(session)
        remove(key)
        onChange()
      })
    },
    feed(files) {
      const fed = feedOffers(offers, files)
      offers = fed.offers
      for (const offer of fed.complete) void once(offer.session.key, (uplink) => goOn(uplink, offer))
      return fed.rest
    },
    async look() {
      looking = look((looks += 1))
      let newest
      do await (newest = looking).catch(() => undefined)
      while (newest !== looking)
    },
  }
  return control
}

/** Settles as the look does, or resolves when a click has waited long enough for it. */
export function inTime(look: Promise<void>): Promise<void> {
  return Promise.race([look, new Promise<void>((late) => setTimeout(late, LOOK_WITHIN_MS))])
}
