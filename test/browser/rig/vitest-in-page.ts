// The part of the test runner that the suites of src/testing use, so that they run unchanged in a page. It collects
// the tests; a test of the same name outside the page runs each where the adapter lives.

import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect'

type Step = () => unknown

interface Group {
  readonly name: string
  readonly before: Step[]
  readonly after: Step[]
}

/** Full name → the test, with its hooks. */
export const tests = new Map<string, () => Promise<void>>()
const groups: Group[] = []

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin)
export const { expect } = chai

export function describe(name: string, body: () => void): void {
  groups.push({ name, before: [], after: [] })
  body()
  groups.pop()
}

export function beforeEach(step: Step): void {
  groups.at(-1)?.before.push(step)
}

export function afterEach(step: Step): void {
  groups.at(-1)?.after.push(step)
}

export const it = Object.assign(addTest, {
  each: (rows: readonly unknown[]) => (name: string, body: (...values: unknown[]) => unknown) => {
    for (const row of rows) {
      const values = Array.isArray(row) ? (row as unknown[]) : [row]
      const rest = [...values]
      addTest(
        name.replaceAll(/%[sd]/g, () => String(rest.shift())),
        () => body(...values),
      )
    }
  },
})

function addTest(name: string, body: Step): void {
  const around = [...groups]
  const fullName = [...around.map((group) => group.name), name].join(' > ')
  if (tests.has(fullName)) throw new Error(`Two tests are called ${fullName}.`)
  tests.set(fullName, async () => {
    for (const { before } of around) for (const step of before) await step()
    try {
      await body()
    } finally {
      for (const { after } of around.toReversed()) for (const step of after) await step()
    }
  })
}
