// What a person does with the offers: takes one up, feeds it with files that are chosen again, or gives it up.

import { drivenSessions, type BrowserUplink, type SessionFile } from '../browser.ts'
import type { ChosenFile } from './chosen-files.ts'
import { feedOffers, findOffers, isOneClick, offerOf, resumeOffer, type Offer, type ResumedUpload } from './offers.ts'
import type { Setting } from './setting.ts'

/** How often it is asked whether another tab is still at an upload that is not finished, ms. */
const DRIVEN_EVERY_MS = 1_000

export interface OfferControl {
  readonly offers: readonly Offer[]
  /** Files of those that another tab drives. */
  readonly driven: readonly SessionFile[]
  accept(key: string): Promise<void>
  discard(key: string): Promise<void>
  /** Gives each file to the offer that it belongs to, and takes up what is complete; the files that nobody wants. */
  feed(files: readonly ChosenFile[]): readonly ChosenFile[]
  /**
   * Looks for unfinished uploads of an earlier life, without those in `keysInUse`; those that another tab drives are offered
   * when it does no more. `uplinkOf` may throw.
   */
  look(uplinkOf: () => BrowserUplink | undefined, flow: string, keysInUse: ReadonlySet<string>): Promise<void>
}

/** What a cancel may give up. */
export interface AtStake {
  readonly filesConfirmed: number
  readonly filesTotal: number
  /** Parts of a file may be confirmed before any file is. */
  readonly confirmedBytes: number
}

export interface OfferControlOptions {
  /** Nothing is looked for by itself while it is not in the page. */
  readonly target: { readonly isConnected: boolean }
  /** Does what needs an Uplink; shows what goes wrong. */
  readonly attempt: (work: (uplink: BrowserUplink) => Promise<void>) => Promise<void>
  readonly resume: Setting['resume']
  /** Opens the picker. */
  readonly choose: () => void
  /** Asks before something that was uploaded is given up; files that are confirmed stay. */
  readonly mayDiscard: (atStake: AtStake) => Promise<unknown>
  readonly onTaken: (resumed: ResumedUpload, filesTotal: number) => void
  readonly onDiscarded: (session: AtStake) => void
  /** An offer was taken up or is given up, or another tab drives an upload no more: time to look. */
  readonly lookAgain: () => Promise<void>
  readonly onChange: () => void
}

export function createOfferControl(options: OfferControlOptions): OfferControl {
  const { attempt, target, onChange } = options
  let offers: readonly Offer[] = []
  let driven: readonly SessionFile[] = []
  /** Whose first click, or last file, is still looked into, or whose giving up is asked about. */
  const busy = new Set<string>()
  /** Of looks that overlap, the newest counts. */
  let looks = 0
  /** Why the newest look that ended found nothing. */
  let lookFailure: Error | undefined
  const find = (key: string): Offer | undefined => offers.find(({ session }) => session.key === key)

  const once = async (key: string, work: (uplink: BrowserUplink) => Promise<void>): Promise<void> => {
    if (busy.has(key)) return
    busy.add(key)
    await attempt(work)
    busy.delete(key)
  }
  /** Also a look that is under way counts no more: what it finds may not be so. */
  const lookAgain = (without?: string): void => {
    looks += 1
    offers = offers.filter(({ session }) => session.key !== without)
    void options.lookAgain()
  }
  /** The offer as it is now: another tab, or another element of the page, may have taken it up, confirmed more or drive it since. */
  const seenAgain = async (key: string): Promise<Offer | undefined> => {
    await options.lookAgain()
    // A look that fails finds nothing; what is wrong is shown to whom it keeps from going on.
    const failure = lookFailure
    if (failure) await attempt(() => Promise.reject(failure))
    return find(key)
  }
  const watch = (watched: readonly Offer[], own: number): void => {
    const check = async (): Promise<void> => {
      if (own !== looks || !target.isConnected) return
      const isDriven = await drivenSessions()
      if (watched.every(({ session }) => isDriven(session.key))) watch(watched, own)
      else lookAgain()
    }
    setTimeout(() => void check(), DRIVEN_EVERY_MS)
  }

  /** Takes an offer up when nothing is missing, else shows what is. */
  const goOn = async (uplink: BrowserUplink, offer: Offer): Promise<void> => {
    const { key, filesTotal } = offer.session
    const outcome = offer.missing.length > 0 ? offer : await resumeOffer(uplink, offer, options.resume)
    if ('upload' in outcome) {
      options.onTaken(outcome, filesTotal)
      lookAgain(key)
    } else offers = offers.map((other) => (other.session.key === key ? outcome : other))
    onChange()
  }

  return {
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
        lookAgain(key)
        onChange()
      })
    },
    feed(files) {
      const fed = feedOffers(offers, files)
      offers = fed.offers
      for (const offer of fed.complete) void once(offer.session.key, (uplink) => goOn(uplink, offer))
      return fed.rest
    },
    async look(uplinkOf, flow, keysInUse) {
      const own = (looks += 1)
      let fresh: readonly Offer[] = []
      let elsewhere: readonly Offer[] = []
      let failure: Error | undefined
      try {
        const uplink = uplinkOf()
        // A plain Uplink has no files of an earlier life.
        if (!uplink || !('sessionFiles' in uplink)) return
        // Before the journal is read: what ends meanwhile is looked at again.
        const isDriven = await drivenSessions()
        // Many looks that come together read it once.
        if (own !== looks) return
        const all = await findOffers(uplink, flow, keysInUse)
        elsewhere = all.filter(({ session }) => isDriven(session.key) && !busy.has(session.key))
        if (elsewhere.length > 0) watch(elsewhere, own)
        fresh = all.filter((offer) => !elsewhere.includes(offer))
      } catch (error) {
        // It is said when somebody wants to upload; without a journal there is nothing to offer.
        failure = error as Error
      }
      if (own !== looks) return
      lookFailure = failure
      driven = elsewhere.flatMap(({ files }) => files)
      // What was chosen again stays chosen.
      offers = fresh.map(({ session, files }) => offerOf(session, files, find(session.key)?.found))
      onChange()
    },
  }
}
