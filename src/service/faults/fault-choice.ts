// Chooses the fault for a request. Every matching rule counts the request; the first rule that strikes decides. Chance is drawn
// from the seed, the rule, the file, the part and how often that part came before, never from the order in which parts arrive. So
// with the same seed a part always meets the same fate, whatever else is under way.

import { createHash } from 'node:crypto'

import type { CheckedFaultPlan, Fault, FaultRule } from './fault-plan.ts'
import type { FaultSubject } from './operations.ts'

export interface FaultChoice {
  /** The fault that strikes this request at this time, in seconds since the start. Counts the request. */
  choose(subject: FaultSubject, atSeconds: number): Fault | undefined
}

/** How many subjects each rule counts separately. Beyond that the oldest is forgotten. */
const MAX_COUNTED = 100_000

export function createFaultChoice(plan: CheckedFaultPlan): FaultChoice {
  const judges = plan.rules.map((rule, index) => createJudge(rule, `${plan.seed}/${index}`))
  return {
    choose(subject, atSeconds) {
      let struck: Fault | undefined
      for (const judge of judges) {
        if (!judge.counts(subject, atSeconds) || struck !== undefined) continue
        struck = judge.strike()
      }
      return struck
    },
  }
}

interface Judge {
  /** Whether the rule matches this request and would strike. Counts each match. */
  counts(subject: FaultSubject, atSeconds: number): boolean
  /** Uses up one of the rule's `times`. */
  strike(): Fault | undefined
}

function createJudge(rule: FaultRule, salt: string): Judge {
  const isFile = rule.file === undefined ? undefined : globMatcher(rule.file)
  const counters = createCounters()
  const occurrences = createCounters()
  let timesLeft = rule.times ?? Infinity
  const isAbout = ({ operation, files, partNumber }: FaultSubject) =>
    (rule.operation === '*' || rule.operation === operation) &&
    (isFile === undefined || files.some(isFile)) &&
    (rule.part === undefined || rule.part === partNumber)
  return {
    counts(subject, atSeconds) {
      if (!isAbout(subject) || !isInTime(rule, atSeconds)) return false
      const count = counters.next(countedAs(rule, subject))
      const key = keyOf(subject)
      return isNth(rule.nth, count) && isDrawn(rule.probability, `${salt}/${key}/${occurrences.next(key)}`)
    },
    strike() {
      if (timesLeft === 0) return undefined
      timesLeft -= 1
      return rule.fault
    },
  }
}

function isInTime({ from = 0, to = Infinity, repeatEvery }: FaultRule, atSeconds: number): boolean {
  const at = repeatEvery === undefined ? atSeconds : atSeconds % repeatEvery
  return at >= from && at < to
}

function isNth(nth: FaultRule['nth'], count: number): boolean {
  if (nth === undefined || nth === 'every') return true
  return typeof nth === 'number' ? nth === count : nth.includes(count)
}

function isDrawn(probability: number | undefined, label: string): boolean {
  if (probability === undefined) return true
  return createHash('sha256').update(label).digest().readUInt32BE() / 2 ** 32 < probability
}

function countedAs({ per }: FaultRule, { files, partNumber }: FaultSubject): string {
  if (per === 'rule') return ''
  return digest(JSON.stringify(per === 'file' ? files : [files, partNumber]))
}

function keyOf({ operation, files, partNumber }: FaultSubject): string {
  return digest(JSON.stringify([operation, files, partNumber ?? null]))
}

/** Hashes the key, because a call with ten thousand names would make one of a megabyte. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function createCounters(): { next(key: string): number } {
  const counts = new Map<string, number>()
  return {
    next(key) {
      const count = (counts.get(key) ?? 0) + 1
      const [oldest] = counts.size >= MAX_COUNTED && count === 1 ? counts.keys() : []
      if (oldest !== undefined) counts.delete(oldest)
      counts.set(key, count)
      return count
    },
  }
}

/** `*` matches anything, `?` one character, and everything else itself. */
function globMatcher(glob: string): (name: string) => boolean {
  const pattern = glob.replace(/[\\^$.*+?()[\]{}|]/g, (char) =>
    char === '*' ? '.*' : char === '?' ? '.' : `\\${char}`,
  )
  const regex = new RegExp(`^${pattern}$`, 'su')
  return (name) => regex.test(name)
}
