// The grammar of faults, its errors, and the choice: which request is struck, by rule, count, chance and seed.

import { readdir, readFile } from 'node:fs/promises'

import { describe, expect, it } from 'vitest'

import { createFaultChoice } from '../../../src/service/faults/fault-choice.ts'
import { readFaultPlan, type FaultPlan } from '../../../src/service/faults/fault-plan.ts'
import { BODY_NAMES } from '../../../src/service/faults/named-bodies.ts'
import { NIGHTS } from '../../../src/service/faults/nights.ts'
import { OPERATIONS, type FaultSubject } from '../../../src/service/faults/operations.ts'
import { startService } from '../../../src/service/index.ts'

const ok = { operation: 'put', fault: { status: 500 } }
const withFault = (fault: object, operation = 'put') => ({ rules: [ok, { operation, fault }] })

describe('a malformed plan', () => {
  it.each<[unknown, string]>([
    [null, 'the plan: expected Object'],
    [{}, 'rules: is missing'],
    [{ rules: [ok], sed: 1 }, 'sed: is not a field here'],
    [{ rules: [{ fault: {} }] }, 'rules.0.operation: is missing'],
    [{ rules: [ok, { operation: 'put' }] }, 'rules.1.fault: is missing'],
    [{ rules: [{ ...ok, nth: 0 }] }, 'rules.0.nth: expected'],
    [{ rules: [{ ...ok, probability: 1.5 }] }, 'rules.0.probability: expected a number from 0 to 1'],
    [{ rules: [{ ...ok, from: 5, to: 5 }] }, 'rules.0: to: expected a time after from'],
    [{ rules: [{ ...ok, repeatEvery: 5 }] }, 'rules.0: repeatEvery: needs a "to"'],
    [{ rules: [{ ...ok, to: 6, repeatEvery: 5 }] }, 'rules.0: repeatEvery: needs a "to" that is not after it'],
    [{ rules: [{ ...ok, to: 0, repeatEvery: 0 }] }, 'rules.0.repeatEvery: expected more than 0'],
    [{ rules: [{ ...ok, from: -1 }] }, 'rules.0.from: expected seconds from 0 on'],
    [withFault({}), 'rules.1.fault: is empty'],
    [withFault({ status: 99 }), 'rules.1.fault.status: expected a status from 200 to 599'],
    [withFault({ status: 600 }), 'rules.1.fault.status: expected a status from 200 to 599'],
    [withFault({ body: 'no name' }), 'rules.1.fault: headers and body: expected a status'],
    [withFault({ delayMs: 2_147_483_648 }), 'rules.1.fault.delayMs: expected milliseconds from 0 to 2147483647'],
    [withFault({ delayMs: { after: -1 } }), 'rules.1.fault.delayMs.after: expected milliseconds from 0'],
    [withFault({ slowLine: 0 }), 'rules.1.fault.slowLine: expected a whole number of 1 or more'],
    [withFault({ stall: { at: 'middle' } }), 'rules.1.fault.stall.at: expected ("start" | "body" | "answer")'],
    [withFault({ reset: { at: 'body', afterBytes: -1 } }), 'rules.1.fault.reset.afterBytes: expected a whole number'],
    [withFault({ status: 500, expire: 's3' }), 'rules.1.fault: ends a request in two ways'],
    [withFault({ etag: 'wrong' }, 'confirm'), 'rules.1: fault.etag: is only for the operation put'],
    [withFault({ shortLifeMs: 0 }, 'create'), 'rules.1.fault.shortLifeMs: expected more than 0'],
    [withFault({ shortLifeMs: 5 }), 'rules.1: fault.shortLifeMs: is only for the operations create and register'],
    [withFault({ status: 500, headers: { 'a b': '1' } }), 'rules.1.fault.headers.a b: expected the name of a header'],
    ['night:unknown', 'No night is called "night:unknown": there are night:flaky-line, '],
  ])('is refused by rule and field: %j', (plan, message) => {
    expect(() => readFaultPlan(plan)).toThrow(message)
    expect(() => readFaultPlan(plan)).toThrow(TypeError)
  })

  it('keeps the service from starting', async () => {
    const faults = { rules: [{ operation: 'nothing', fault: { status: 500 } }] } as unknown as FaultPlan

    await expect(startService({ port: 0, faults })).rejects.toThrow('rules.0.operation: expected (')
  })
})

it.each([
  withFault({ status: 200, headers: {}, body: { a: 1 } }),
  withFault({ status: 599, stall: { at: 'body', afterBytes: 0, forMs: 0 } }),
  withFault({ delayMs: 2_147_483_647 }),
  withFault({ slowLine: 1 }),
  withFault({ shortLifeMs: 0.5 }, 'register'),
  withFault({ status: 200, body: ['a', 1] }),
  { rules: [{ ...ok, from: 0, to: 0.5, repeatEvery: 0.5 }] },
])('takes the least and the most of everything: %j', (plan) => {
  expect(readFaultPlan(plan)).toMatchObject({ ...plan, seed: 1 })
})

it('has at most a thousand rules', () => {
  const plan = (length: number) => ({ rules: Array.from({ length }, () => ok) })

  expect(readFaultPlan(plan(1_000)).rules).toHaveLength(1_000)
  expect(() => readFaultPlan(plan(1_001))).toThrow('rules: expected at most 1000 rules')
})

it('has five nights that obey the grammar', () => {
  expect(Object.keys(NIGHTS)).toEqual([
    'flaky-line',
    'expiring-addresses',
    'overloaded-storage',
    'lying-storage',
    'short-outages',
  ])
  for (const name of Object.keys(NIGHTS)) expect(readFaultPlan(`night:${name}`).rules.length).toBeGreaterThan(1)
})

/** What the plan does to each subject in turn: the status of the fault, or `-`. */
function fates(plan: FaultPlan, subjects: readonly FaultSubject[], atSeconds = 0): string {
  const choice = createFaultChoice(readFaultPlan(plan))
  return subjects.map((subject) => String(choice.choose(subject, atSeconds)?.status ?? '-')).join(' ')
}

const part = (file: string, partNumber: number): FaultSubject => ({ operation: 'put', files: [file], partNumber })
const rule = (status: number, extra: object = {}) => ({ operation: 'put' as const, fault: { status }, ...extra })

describe('the choice', () => {
  it('takes the first rule that strikes, and counts for all that match', () => {
    const plan = { rules: [rule(501, { nth: 1 }), rule(502, { nth: [2, 4] }), rule(503, { times: 1 })] }
    const five = Array.from({ length: 5 }, () => part('a', 1))

    expect(fates(plan, five)).toBe('501 502 503 502 -')
  })

  it('counts by rule, by file or by part', () => {
    const subjects = [part('a', 1), part('a', 2), part('b', 1), part('a', 1), part('a', 2), part('b', 1)]

    expect(fates({ rules: [rule(500, { nth: 2 })] }, subjects)).toBe('- 500 - - - -')
    expect(fates({ rules: [rule(500, { nth: 2, per: 'file' })] }, subjects)).toBe('- 500 - - - 500')
    expect(fates({ rules: [rule(500, { nth: 2, per: 'part' })] }, subjects)).toBe('- - - 500 500 500')
    expect(fates({ rules: [rule(500, { nth: 'every' })] }, subjects)).toBe('500 500 500 500 500 500')
  })

  it('knows files by name or glob, and every one of a call', () => {
    const names = ['a.mp4', 'b.mp4', 'b+.mp4', 'ab.mov', '\u{1F3CB}.mp4', 'x\n.mp4']
    const struck = (file: string) =>
      fates(
        { rules: [rule(500, { file })] },
        names.map((name) => part(name, 1)),
      )

    expect(struck('a.mp4')).toBe('500 - - - - -')
    expect(struck('?.mp4')).toBe('500 500 - - 500 -')
    expect(struck('*.mp4')).toBe('500 500 500 - 500 500')
    expect(struck('b+.mp4')).toBe('- - 500 - - -')
    const call = { operation: 'register', files: names } as const
    expect(fates({ rules: [{ operation: 'register', file: 'ab*', fault: { status: 500 } }] }, [call])).toBe('500')
    expect(fates({ rules: [{ operation: '*', part: 1, fault: { status: 500 } }] }, [call, part('a', 1)])).toBe('- 500')
  })

  it('draws the same for a part whatever comes before it, and otherwise for another seed', () => {
    const plan = (seed: number) => ({ seed, rules: [rule(500, { probability: 0.5 })] })
    const parts = Array.from({ length: 40 }, (_, index) => part('clip.mp4', index + 1))
    const inOrder = fates(plan(1), parts).split(' ')

    expect(fates(plan(1), parts.toReversed()).split(' ').toReversed()).toEqual(inOrder)
    expect(fates(plan(2), parts).split(' ')).not.toEqual(inOrder)
    expect(inOrder.filter((fate) => fate === '500').length).toBeGreaterThan(10)
    expect(inOrder.filter((fate) => fate === '500').length).toBeLessThan(30)
    expect(fates({ rules: [rule(500, { probability: 0 })] }, parts)).not.toContain('500')
    expect(fates({ rules: [rule(500, { probability: 1 })] }, parts)).not.toContain('-')
  })

  it('draws anew each time that a part comes', () => {
    const again = Array.from({ length: 40 }, () => part('a', 1))

    expect(new Set(fates({ rules: [rule(500, { probability: 0.5 })] }, again).split(' '))).toEqual(
      new Set(['500', '-']),
    )
  })

  it('has a name for every operation', () => {
    expect(new Set(OPERATIONS).size).toBe(19)
  })
})

describe('docs/faults.md', () => {
  const page = readFile(new URL('../../../docs/faults.md', import.meta.url), 'utf8')

  it('names every operation, every night and every body', async () => {
    const text = await page
    const names = [...OPERATIONS, ...BODY_NAMES, ...Object.keys(NIGHTS).map((name) => `night:${name}`)]

    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })

  it('shows an example that obeys the grammar', async () => {
    const [, json = ''] = /```json\n([\s\S]*?)```/.exec(await page) ?? []

    expect(readFaultPlan(JSON.parse(json)).rules.map(({ operation }) => operation)).toEqual(['put', 'put', 'confirm'])
  })
})

it('is loaded by no file of the service but on demand', async () => {
  const folder = new URL('../../../src/service/', import.meta.url)
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('faults'),
  )
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')))
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => /from '[./]*\/faults\//.test(line))

  expect(lines.length).toBeGreaterThan(1)
  expect(lines.filter((line) => !/^(?:import|export) type /.test(line))).toEqual([])
  expect(texts.filter((text) => /import\('[./]*\/faults\//.test(text))).toHaveLength(2)
})
