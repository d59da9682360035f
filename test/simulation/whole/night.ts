// What a seed decides about a night: the files, the line, the storage's habits, everything that goes wrong, and what
// the host does meanwhile. Plain data, drawn before anything runs.

import { fill } from '../world.ts'
import type { Dice } from './dice.ts'

export const STORAGE_FAULTS = [
  'connect',
  'reset',
  'lostReply',
  'lostRequest',
  'silentConnect',
  'silentSend',
  'silentAnswer',
  'early503',
  'status500',
  'throttle',
  'longThrottle',
  'requestTimeout',
  'saysExpired',
  'wrongEtag',
  'damaged',
  'noEtag',
  'twice',
] as const
export type StorageFault = (typeof STORAGE_FAULTS)[number]

export const SERVICE_FAULTS = [
  'connect',
  'lostReply',
  'lostRequest',
  'silentAnswer',
  'status500',
  'status500Done',
  'throttle',
  'twice',
] as const
export type ServiceFault = (typeof SERVICE_FAULTS)[number]

/** A span of simulated time, ms since the beginning. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** A time in which a host is unreachable or refuses everything. */
export interface Outage extends Span {
  readonly host: 'service' | 'storage'
  readonly fault: 'connect' | 'throttle'
}

export interface NightFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** All that a host can be told. */
export const HOST_EVENTS = [
  'state',
  'progress',
  'file',
  'retry',
  'waiting',
  'session.replaced',
  'shortfall',
  'warning',
] as const
export type HostEvent = (typeof HOST_EVENTS)[number]

export interface HostAction {
  /** Time since the life began, ms. */
  readonly atMs: number
  /**
   * `close` closes the Uplink, and `letGo` fires the signal of the upload. Both end the life, and the next one continues. `probe`
   * hints that the network may be back, and `limit` sets another rate.
   */
  readonly action: 'pause' | 'resume' | 'cancel' | 'discard' | 'close' | 'letGo' | 'probe' | 'limit'
}

/** What a listener of the host does as it is told something: in the middle of whatever told it. */
export interface HostReaction extends Pick<HostAction, 'action'> {
  readonly event: HostEvent
  /** It does so when it hears this event for the n-th time, from 1. */
  readonly turn: number
  /** How long after a pause it goes on, ms. */
  readonly goesOnAfterMs: number
}

/** One process. It may die at a call of a port, and its host may change its mind. */
export interface LifePlan {
  /** The number of the port call at which it dies. Undefined: it lives to its end. */
  readonly diesAtCall: number | undefined
  /** Whether its death also removes records that were not synced. */
  readonly isPowerCut: boolean
  readonly actions: readonly HostAction[]
  readonly reactions: readonly HostReaction[]
  /** The number of the record that finds the disk full. */
  readonly fullDiskAt: number | undefined
  /** How many records find it full, until somebody makes room. */
  readonly fullDiskFor: number
}

export interface Night {
  /** `store`: the host signs for a store, and there is no service. */
  readonly flow: 'video' | 'capture' | 'store'
  readonly files: readonly NightFile[]
  readonly partSizeBytes: number
  readonly batchSize: number
  readonly concurrency: number | 'auto'
  readonly verify: 'md5' | 'full' | 'off'
  /** Sources open, and are read, without waiting. */
  readonly isSourceQuick: boolean
  /** Records are on the disk as soon as they are appended, and a full disk throws at once. */
  readonly isJournalQuick: boolean
  readonly isBackground: boolean
  /** How long it takes to hash a piece, ms; 0: it is hashed at once. */
  readonly hashMs: number
  /** The host signs dead addresses again, or all requests to a store: how long that takes, ms, and the share of its failures. */
  readonly renewal: { readonly takesMs: number; readonly failShare: number } | undefined
  /** ETags are not digests, and each PUT gets another one. */
  readonly isOpaque: boolean
  readonly addressLifeMs: number
  /** How far the far ends' clocks are ahead of ours, ms. */
  readonly skewMs: number
  readonly tellsTime: boolean
  /** A second confirmation is answered with 409 instead of 200. */
  readonly saysAlready: boolean
  readonly echoesFileIds: boolean
  readonly connectMs: number
  readonly lineMs: number
  readonly answerMs: number
  readonly syncMs: number
  readonly readMs: number
  /** The share of given-up attempts that still arrive if they had been handed over completely, up to `lateMs` later. */
  readonly lateShare: number
  readonly lateMs: number
  /** How long an attempt that was given up may take to end, as the reset of a connection does, ms. 0: it ends at once. */
  readonly settleMs: number
  readonly storageFaults: readonly StorageFault[]
  readonly storageFaultShare: number
  readonly serviceFaults: readonly ServiceFault[]
  readonly serviceFaultShare: number
  readonly outages: readonly Outage[]
  readonly suspends: readonly { readonly atMs: number; readonly forMs: number }[]
  readonly wallJump: { readonly atMs: number; readonly byMs: number } | undefined
  readonly change: { readonly atMs: number; readonly fileIndex: number } | undefined
  /** A span in which a file cannot be read; its end may be never. */
  readonly denial: (Span & { readonly fileIndex: number }) | undefined
  /** The captures are added to a session in which somebody else has these names already. */
  readonly given: { readonly theirs: readonly string[]; readonly isReprocess: boolean } | undefined
  /** The key of the service lapses this often, ms, and the host is asked for the next one: how long that takes, ms, and the share of its failures. */
  readonly keys: { readonly lifeMs: number; readonly takesMs: number; readonly failShare: number } | undefined
  /** When a store sweeps away what it holds of a file that is not complete. */
  readonly sweep: { readonly atMs: number; readonly fileIndex: number } | undefined
  /** Followed by a last life in which nothing goes wrong. */
  readonly troubledLives: readonly LifePlan[]
}

export const QUIET_LIFE: LifePlan = {
  diesAtCall: undefined,
  isPowerCut: false,
  actions: [],
  reactions: [],
  fullDiskAt: undefined,
  fullDiskFor: Infinity,
}

/** Makes addresses outlive every night. */
export const LONG_LIFE_MS = 6 * 86_400_000

export function drawNight(dice: Dice): Night {
  const { between, chance, pick } = dice
  const isQuiet = chance(0.15)
  const flow = chance(0.8) ? 'video' : 'capture'
  const isOpaque = chance(0.35)
  const verify = chance(0.85) ? 'md5' : 'off'
  const isComparable = !isOpaque && verify === 'md5'
  const partSizeBytes = between(1, 64)
  const faults = STORAGE_FAULTS.filter((fault) => isComparable || (fault !== 'damaged' && fault !== 'wrongEtag'))
  const isFaulty = !isQuiet && chance(0.7)
  const isServiceFaulty = !isQuiet && chance(0.35)
  const files = drawFiles(dice, flow, partSizeBytes)
  const isBrief = !isQuiet && chance(0.15)
  const night: Night = {
    flow,
    ...{ files, partSizeBytes, isOpaque, verify },
    batchSize: between(1, 6),
    concurrency: chance(0.2) ? 'auto' : between(1, 8),
    addressLifeMs: isBrief ? between(4_000, 60_000) : LONG_LIFE_MS,
    skewMs: chance(0.2) ? between(-600_000, 600_000) : 0,
    tellsTime: chance(0.5),
    saysAlready: chance(0.5),
    echoesFileIds: chance(0.5),
    connectMs: chance(0.5) ? 0 : between(1, 40),
    lineMs: between(1, 60),
    answerMs: isBrief && chance(0.5) ? between(500, 4_000) : between(1, 200),
    syncMs: chance(0.6) ? 0 : between(1, 12),
    readMs: chance(0.9) ? 0 : between(1, 60),
    isSourceQuick: false,
    isJournalQuick: false,
    isBackground: false,
    hashMs: 0,
    renewal: undefined,
    lateShare: chance(0.3) ? 0 : 0.6,
    lateMs: chance(0.8) ? between(1, 400) : between(400, 20_000),
    settleMs: 0,
    storageFaults: Array.from({ length: between(1, 5) }, () => pick(faults)),
    storageFaultShare: isFaulty ? dice.random() * 0.3 : 0,
    serviceFaults: Array.from({ length: between(1, 3) }, () => pick(SERVICE_FAULTS)),
    serviceFaultShare: isServiceFaulty ? dice.random() * 0.5 : 0,
    outages: isQuiet || chance(0.85) ? [] : [drawOutage(dice)],
    suspends: isQuiet || chance(0.9) ? [] : [{ atMs: between(1, 4_000), forMs: between(6_000, 3_600_000) }],
    wallJump: isQuiet || chance(0.95) ? undefined : { atMs: between(1, 3_000), byMs: between(-90_000, 90_000) },
    change: isQuiet || chance(0.96) ? undefined : { atMs: between(1, 1_500), fileIndex: between(0, files.length - 1) },
    denial: undefined,
    sweep: undefined,
    given: undefined,
    keys: undefined,
    troubledLives: isQuiet ? [] : drawLives(dice),
  }
  const hard = !isQuiet && chance(0.12) ? { ...night, ...drawHardship(dice, night) } : night
  // Drawn last: what is drawn before then does not depend on it.
  const mannered = { ...hard, ...drawManners(dice, hard) }
  const late = !isQuiet && flow === 'video' && chance(0.06) ? { ...mannered, ...LATE_ARRIVALS } : mannered
  const settling = chance(0.6) ? late : { ...late, ...drawSettling(dice, late) }
  const stored = flow === 'video' && chance(0.15) ? { ...settling, ...drawStore(dice, settling) } : settling
  return { ...stored, ...drawService(dice, stored) }
}

/**
 * What was handed over and got no answer arrives long after the same part was sent again, and gets another ETag. By chance this
 * comes together in hardly any night.
 */
export const LATE_ARRIVALS: Partial<Night> = {
  isOpaque: true,
  storageFaults: ['silentAnswer'],
  storageFaultShare: 0.2,
  lateShare: 1,
  lateMs: 20_000,
  // Slow enough for a life to end between the two.
  lineMs: 500,
  concurrency: 2,
}

/** The manners of the host: how quick its own ports are, what it does as it is told something, and what else it asks for. */
function drawManners(dice: Dice, { flow, verify, readMs, syncMs, troubledLives }: Night): Partial<Night> {
  const { between, chance, pick } = dice
  const isBusy = chance(0.4)
  return {
    verify: verify === 'md5' && chance(0.15) ? 'full' : verify,
    isSourceQuick: readMs === 0 && chance(0.3),
    isJournalQuick: syncMs === 0 && chance(0.3),
    isBackground: chance(0.1),
    hashMs: chance(0.8) ? 0 : between(1, 40),
    ...(chance(0.05)
      ? { wallJump: { atMs: between(1, pick([500, 5_000])), byMs: between(-100_000_000, 100_000_000) } }
      : {}),
    renewal:
      flow === 'video' && chance(0.2)
        ? { takesMs: chance(0.5) ? 0 : between(1, pick([500, 5_000, 90_000])), failShare: chance(0.7) ? 0 : 0.3 }
        : undefined,
    troubledLives: troubledLives.map((plan) => (isBusy ? { ...plan, ...drawReactions(dice, plan) } : plan)),
  }
}

/** Attempts that were given up take a moment to end, and the reads that they leave behind take one, too. */
function drawSettling({ between, chance, pick }: Dice, { readMs, isSourceQuick }: Night): Partial<Night> {
  return {
    settleMs: between(1, pick([20, 400])),
    ...(readMs === 0 && !isSourceQuick && chance(0.3) ? { readMs: between(1, 60) } : {}),
  }
}

/** The same night without a service. */
function drawStore({ between, chance, pick }: Dice, { files }: Night): Partial<Night> {
  return {
    flow: 'store',
    sweep: chance(0.4)
      ? { atMs: between(1, pick([500, 3_000, 60_000])), fileIndex: between(0, files.length - 1) }
      : undefined,
  }
}

/** What a service knows that others have begun, keys that lapse, and a disk that is full for a moment. */
function drawService(dice: Dice, { flow, files, answerMs, connectMs, troubledLives }: Night): Partial<Night> {
  const { between, chance, pick } = dice
  const theirs = files.filter(() => chance(0.4)).map(({ name }) => name)
  const takesMs = pick([0, between(1, 500)])
  // Long enough for a call to be refused with one key, and to be made with a key that another call has got meanwhile.
  const lifeMs = 2 * (answerMs + connectMs) + takesMs + between(100, pick([1_000, 30_000]))
  return {
    given: flow === 'capture' && chance(0.5) ? { theirs, isReprocess: chance(0.2) } : undefined,
    keys: chance(0.1) ? { lifeMs, takesMs, failShare: pick([0, 0, 0.3]) } : undefined,
    troubledLives: troubledLives.map((plan) =>
      chance(0.06) ? { ...plan, fullDiskAt: between(2, 40), fullDiskFor: between(1, 4) } : plan,
    ),
  }
}

function drawReactions({ between, chance, pick }: Dice, { actions }: LifePlan): Partial<LifePlan> {
  const ACTIONS = ['pause', 'resume', 'cancel', 'discard', 'close', 'letGo', 'probe', 'limit'] as const
  return {
    reactions: Array.from({ length: between(0, 3) }, () => ({
      event: chance(0.5) ? ('state' as const) : pick(HOST_EVENTS),
      turn: between(1, pick([2, 10])),
      action: pick(ACTIONS),
      goesOnAfterMs: chance(0.5) ? 0 : between(0, 3_000),
    })),
    actions: [
      ...actions,
      ...Array.from({ length: between(0, 3) }, () => ({
        atMs: between(0, 4_000),
        action: pick(['probe', 'limit', 'limit'] as const),
      })),
      ...(chance(0.1) ? [{ atMs: between(0, 4_000), action: 'letGo' as const }] : []),
      ...(chance(0.2) ? [{ atMs: between(0, 2_000), action: 'discard' as const }] : []),
    ],
  }
}

/** What seldom comes together by chance: addresses that die during outages, files that change meanwhile, and wrong clocks. */
function drawHardship({ between, chance, pick }: Dice, { files, answerMs, lineMs }: Night): Partial<Night> {
  const addressLifeMs = between(4_000, 60_000)
  /** Early in most nights, because many are over after some seconds. */
  const moment = (): number => between(1, pick([500, 3_000, 15_000, 60_000]))
  const fileIndex = (): number => between(0, files.length - 1)
  const drawLongOutage = (): Outage => {
    const fromMs = moment()
    const toMs = fromMs + between(addressLifeMs, 5 * addressLifeMs)
    return { host: pick(['service', 'storage', 'storage']), fault: pick(['connect', 'throttle']), fromMs, toMs }
  }
  const drawDenial = (): Night['denial'] => {
    const fromMs = moment()
    return { fromMs, toMs: chance(0.3) ? Infinity : fromMs + between(1, 120_000), fileIndex: fileIndex() }
  }
  return {
    addressLifeMs,
    outages: Array.from({ length: between(0, 2) }, drawLongOutage),
    lineMs: chance(0.5) ? between(60, 1_500) : lineMs,
    answerMs: chance(0.5) ? between(500, 4_000) : answerMs,
    suspends: chance(0.3) ? [{ atMs: moment(), forMs: between(6_000, 3_600_000) }] : [],
    wallJump: chance(0.5) ? { atMs: moment(), byMs: between(-3_600_000, 3_600_000) } : undefined,
    change: chance(0.4) ? { atMs: moment(), fileIndex: fileIndex() } : undefined,
    denial: chance(0.4) ? drawDenial() : undefined,
  }
}

function drawFiles({ between, chance }: Dice, flow: Night['flow'], partSizeBytes: number): NightFile[] {
  const count = flow === 'capture' ? between(1, 9) : between(1, 4)
  return Array.from({ length: count }, (_, index) => {
    const parts = flow === 'capture' ? 1 : between(1, 16)
    const sizeBytes = chance(0.03) ? 0 : parts * partSizeBytes - between(0, partSizeBytes - 1)
    const name = flow === 'video' ? `clip-${String(index)}.mp4` : `play-${String(index)}.action`
    return { name, bytes: fill(sizeBytes, index + 1) }
  })
}

function drawOutage({ between, pick }: Dice): Outage {
  const fromMs = between(0, 3_000)
  const toMs = fromMs + between(500, 300_000)
  return { host: pick(['service', 'storage']), fault: pick(['connect', 'throttle']), fromMs, toMs }
}

function drawLives(dice: Dice): LifePlan[] {
  const { between, chance } = dice
  return Array.from({ length: chance(0.5) ? 1 : between(0, 3) }, () => ({
    diesAtCall: chance(0.5) ? between(1, 160) : undefined,
    isPowerCut: chance(0.4),
    actions: drawActions(dice),
    reactions: [],
    fullDiskAt: chance(0.05) ? between(2, 40) : undefined,
    fullDiskFor: Infinity,
  }))
}

/** Every pause has its resume, so that no life waits for a host that is gone. */
function drawActions({ between, chance }: Dice): HostAction[] {
  const actions: HostAction[] = []
  let atMs = 0
  for (let pauses = chance(0.55) ? 0 : between(1, 3); pauses > 0; pauses -= 1) {
    atMs += between(0, 700)
    actions.push({ atMs, action: 'pause' })
    atMs += chance(0.3) ? 0 : between(0, 3_000)
    actions.push({ atMs, action: 'resume' })
  }
  if (chance(0.12)) actions.push({ atMs: between(0, 2_000), action: 'cancel' })
  if (chance(0.2)) actions.push({ atMs: between(0, 4_000), action: 'close' })
  return actions
}
