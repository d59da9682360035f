// What a person does with the offers: takes one up, feeds it with files that are chosen again, or gives it up.

import type { BrowserUplink } from '../browser.ts'
import type { ChosenFile } from './chosen-files.ts'
import { feedOffers, findOffers, isOneClick, keepFound, resumeOffer, type Offer, type ResumedUpload } from './offers.ts'

export interface OfferControl {
  readonly offers: readonly Offer[]
  accept(key: string): Promise<void>
  discard(key: string): Promise<void>
  /** Gives each file to the offer that misses it, and takes up what is complete; the files that nobody misses. */
  feed(files: readonly ChosenFile[]): readonly ChosenFile[]
  /** Looks for unfinished uploads of an earlier life, without those in `keysInUse`. `uplinkOf` may throw. */
  look(uplinkOf: () => BrowserUplink | undefined, flow: string, keysInUse: ReadonlySet<string>): Promise<void>
}

/** What a cancel may give up. */
export interface AtStake {
  readonly filesConfirmed: number
  /** Parts of a file may be confirmed before any file is. */
  readonly confirmedBytes: number
}

export interface OfferControlOptions {
  /** Does what needs an Uplink; shows what goes wrong. */
  readonly attempt: (work: (uplink: BrowserUplink) => Promise<void>) => Promise<void>
  /** Opens the picker. */
  readonly choose: () => void
  /** Asks before what is confirmed is given up; true when it may be. */
  readonly mayGiveUp: (atStake: AtStake) => Promise<boolean>
  readonly onTaken: (resumed: ResumedUpload, filesTotal: number) => void
  readonly onDiscarded: () => void
  /** What a look that is under way finds may not be so any more: time for another. */
  readonly lookAgain: () => void
  readonly onChange: () => void
}

export function createOfferControl(options: OfferControlOptions): OfferControl {
  const { attempt, onChange } = options
  let offers: readonly Offer[] = []
  /** Whose first click, or last file, is still looked into. */
  const accepting = new Set<string>()
  /** Of looks that overlap, the newest counts. */
  let looks = 0
  const find = (key: string): Offer | undefined => offers.find(({ session }) => session.key === key)

  const once = async (key: string, work: (uplink: BrowserUplink) => Promise<void>): Promise<void> => {
    if (accepting.has(key)) return
    accepting.add(key)
    await attempt(work)
    accepting.delete(key)
  }
  const drop = (key: string): void => {
    offers = offers.filter(({ session }) => session.key !== key)
    looks += 1
    options.lookAgain()
  }

  /** Takes an offer up when nothing is missing, else shows what is. */
  const goOn = async (uplink: BrowserUplink, offer: Offer): Promise<void> => {
    const { key, filesTotal } = offer.session
    const outcome = offer.missing.length > 0 ? offer : await resumeOffer(uplink, offer)
    if ('upload' in outcome) {
      options.onTaken(outcome, filesTotal)
      drop(key)
    } else offers = offers.map((other) => (other.session.key === key ? outcome : other))
    onChange()
  }

  return {
    get offers() {
      return offers
    },
    async accept(key) {
      const offer = find(key)
      if (offer === undefined) return
      if (!isOneClick(offer)) {
        options.choose()
        return
      }
      await once(key, async (uplink) => {
        if (offer.missing.length === 0) return goOn(uplink, offer)
        const missing = await uplink.allowFiles(key)
        // Files may have been chosen meanwhile.
        await goOn(uplink, keepFound({ ...offer, missing }, find(key)))
      })
    },
    async discard(key) {
      const offer = find(key)
      if (offer === undefined || !(await options.mayGiveUp(offer.session))) return
      await attempt(async (uplink) => {
        await uplink.cancelSession(key)
        options.onDiscarded()
        drop(key)
        onChange()
      })
    },
    feed(files) {
      const fed = feedOffers(offers, files)
      const complete = fed.offers.filter((offer, index) => offer !== offers[index] && offer.missing.length === 0)
      offers = fed.offers
      for (const offer of complete) void once(offer.session.key, (uplink) => goOn(uplink, offer))
      return fed.rest
    },
    async look(uplinkOf, flow, keysInUse) {
      looks += 1
      const own = looks
      let fresh: readonly Offer[]
      try {
        const uplink = uplinkOf()
        // A plain Uplink has no files of an earlier life.
        if (uplink === undefined || !('missingFiles' in uplink)) return
        fresh = await findOffers(uplink, flow, keysInUse)
      } catch {
        // What is wrong is said when somebody wants to upload; without a journal there is nothing to offer.
        fresh = []
      }
      if (own !== looks) return
      // What was chosen again stays chosen.
      offers = fresh.map((offer) => keepFound(offer, find(offer.session.key)))
      onChange()
    },
  }
}
