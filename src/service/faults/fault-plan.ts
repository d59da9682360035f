// The grammar of faults: one schema for files, options and the ready-made nights. Errors name the rule and the field.

import * as v from 'valibot'

import { BODY_NAMES } from './named-bodies.ts'
import { NIGHTS } from './nights.ts'
import { OPERATIONS } from './operations.ts'

const MAX_RULES = 1_000
const MAX_TIMER_MS = 2_147_483_647

const numberThat = (isRight: (value: number) => boolean, expected: string) =>
  v.pipe(v.number(), v.check(isRight, `expected ${expected}`))
const wholeNumber = (least: number) =>
  numberThat((value) => Number.isSafeInteger(value) && value >= least, `a whole number of ${least} or more`)
const timerMs = numberThat((value) => value >= 0 && value <= MAX_TIMER_MS, `milliseconds from 0 to ${MAX_TIMER_MS}`)
const seconds = numberThat((value) => value >= 0, 'seconds from 0 on')
const positive = v.check((value: number) => value > 0, 'expected more than 0')
const headers = v.record(
  v.pipe(v.string(), v.regex(/^[\w-]+$/, 'expected the name of a header')),
  v.pipe(v.string(), v.regex(/^[\x20-\x7e]*$/, 'expected visible ASCII')),
)

const answer = {
  status: v.optional(
    numberThat((value) => Number.isInteger(value) && value >= 200 && value <= 599, 'a status from 200 to 599'),
  ),
  headers: v.optional(headers),
  /** A known name or literal text; an object or a list is sent as JSON. */
  body: v.optional(v.union([v.string(), v.array(v.unknown()), v.record(v.string(), v.unknown())])),
}
const hasStatus = ({ status, body }: { status?: number | undefined; body?: unknown }) =>
  status !== undefined || (BODY_NAMES as readonly unknown[]).includes(body)
const NEEDS_STATUS = 'expected a status, which only a named body brings with it'

const moment = {
  at: v.picklist(['start', 'body', 'answer']),
  afterBytes: v.optional(wholeNumber(0)),
}

const fault = v.pipe(
  v.strictObject({
    delayMs: v.optional(
      v.union([timerMs, v.strictObject({ before: v.optional(timerMs), after: v.optional(timerMs) })]),
    ),
    stall: v.optional(v.strictObject({ ...moment, forMs: v.optional(timerMs) })),
    reset: v.optional(v.strictObject(moment)),
    ...answer,
    earlyAnswer: v.optional(
      v.pipe(
        v.strictObject({ ...answer, then: v.optional(v.picklist(['close', 'drain']), 'close') }),
        v.check((value) => hasStatus(value), NEEDS_STATUS),
      ),
    ),
    expire: v.optional(v.picklist(['s3', 'gcs', 'azure'])),
    loseReply: v.optional(v.picklist(['reset', 'close'])),
    etag: v.optional(v.picklist(['wrong', 'missing', 'opaque', 'weak'])),
    corrupt: v.optional(v.literal(true)),
    shortLifeMs: v.optional(v.pipe(timerMs, positive)),
    slowLine: v.optional(wholeNumber(1)),
    lateDeliveryMs: v.optional(timerMs),
  }),
  v.check((value) => Object.keys(value).length > 0, 'is empty: nothing would go wrong'),
  v.check(
    (value) => (value.headers === undefined && value.body === undefined) || hasStatus(value),
    `headers and body: ${NEEDS_STATUS}`,
  ),
  v.check(
    ({ reset, status, body, earlyAnswer, expire, loseReply, lateDeliveryMs }) =>
      [reset, status ?? body, earlyAnswer, expire, loseReply, lateDeliveryMs].filter((one) => one !== undefined)
        .length <= 1,
    'ends a request in two ways: give one of reset, status or body, earlyAnswer, expire, loseReply, lateDeliveryMs',
  ),
)

const nth = wholeNumber(1)
const rule = v.pipe(
  v.strictObject({
    operation: v.picklist([...OPERATIONS, '*']),
    file: v.optional(v.string()),
    part: v.optional(nth),
    nth: v.optional(v.union([nth, v.array(nth), v.literal('every')])),
    per: v.optional(v.picklist(['rule', 'file', 'part']), 'rule'),
    probability: v.optional(numberThat((value) => value >= 0 && value <= 1, 'a number from 0 to 1')),
    from: v.optional(seconds),
    to: v.optional(seconds),
    repeatEvery: v.optional(v.pipe(seconds, positive)),
    times: v.optional(wholeNumber(1)),
    fault,
  }),
  v.check(({ from = 0, to }) => to === undefined || to > from, 'to: expected a time after from'),
  v.check(
    ({ to, repeatEvery }) => repeatEvery === undefined || (to !== undefined && to <= repeatEvery),
    'repeatEvery: needs a "to" that is not after it',
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const message = misplaced(dataset.value.operation, dataset.value.fault)
    if (message !== undefined) addIssue({ message })
  }),
)

const schema = v.strictObject({
  seed: v.optional(v.number(), 1),
  rules: v.pipe(
    v.array(rule),
    v.check((rules) => rules.length <= MAX_RULES, `expected at most ${MAX_RULES} rules`),
  ),
})

/** What goes wrong, when, and for which requests: docs/faults.md explains each field. Plain JSON. */
export type FaultPlan = v.InferInput<typeof schema>
/** A checked plan, with its defaults filled in. */
export type CheckedFaultPlan = v.InferOutput<typeof schema>
export type FaultRule = CheckedFaultPlan['rules'][number]
export type Fault = FaultRule['fault']
export type FaultAnswer = Pick<Fault, 'status' | 'headers' | 'body'>

/**
 * Checks a plan, or looks up a ready-made one by its name, such as `night:flaky-line`. Throws a TypeError that names the rule,
 * counted from 0, the field, and what was expected: `rules.2.fault.stall.at: expected …`.
 */
export function readFaultPlan(given: unknown): CheckedFaultPlan {
  const parsed = v.safeParse(schema, typeof given === 'string' ? nightNamed(given) : given)
  if (parsed.success) return parsed.output
  // A field that breaks one rule usually breaks the next as well, so only its first problem is reported.
  const problems = new Map<string, string>()
  for (const issue of parsed.issues) {
    const field = v.getDotPath(issue) ?? 'the plan'
    if (!problems.has(field)) problems.set(field, `${field}: ${problemOf(issue)}`)
  }
  throw new TypeError(`The faults are malformed: ${[...problems.values()].slice(0, 10).join('; ')}`)
}

function nightNamed(text: string): unknown {
  const name = /^night:(.+)$/.exec(text)?.[1] ?? ''
  if (Object.hasOwn(NIGHTS, name)) return NIGHTS[name as keyof typeof NIGHTS]
  const names = Object.keys(NIGHTS).map((known) => `night:${known}`)
  throw new TypeError(`No night is called ${JSON.stringify(text)}: there are ${names.join(', ')}.`)
}

function problemOf(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'is not a field here'
  if (issue.received === 'undefined') return 'is missing'
  if (issue.kind === 'validation') return issue.message
  return `expected ${issue.expected ?? issue.type}`
}

const ONLY_FOR_PARTS = ['earlyAnswer', 'expire', 'etag', 'corrupt', 'slowLine', 'lateDeliveryMs'] as const

/** Finds a fault that this operation cannot have: it would never strike, and its author would wait for it. */
function misplaced(operation: string, value: v.InferOutput<typeof fault>): string | undefined {
  const wrong = ONLY_FOR_PARTS.find((name) => value[name] !== undefined)
  if (wrong !== undefined && operation !== 'put') return `fault.${wrong}: is only for the operation put`
  if (value.shortLifeMs !== undefined && operation !== 'create' && operation !== 'register') {
    return 'fault.shortLifeMs: is only for the operations create and register'
  }
  return undefined
}
