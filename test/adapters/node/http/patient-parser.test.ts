// undici's parser is compiled with a budget of its own, and V8 has its usual one back before anything else is compiled.

import { execFileSync } from 'node:child_process'
import { beforeEach, describe, expect, it, vi } from 'vitest'

const log: string[] = []
vi.mock('node:v8', () => ({ setFlagsFromString: (flag: string) => void log.push(flag) }))

/** As a process has it that has sent nothing yet. */
async function freshModule() {
  vi.resetModules()
  return import('../../../../src/adapters/node/http/patient-parser.ts')
}
const connect = (): void => void log.push('connect')

describe('the parser of answers', () => {
  beforeEach(() => void log.splice(0))

  it('is compiled with a large budget, once, and V8 gets its own back', async () => {
    const { withPatientParser } = await freshModule()

    withPatientParser(connect)
    withPatientParser(connect)

    const [raised, , usual] = log
    expect(log).toEqual([raised, 'connect', usual, 'connect'])
    expect(raised).toBe('--wasm-tiering-budget=2147483647')
    expect(usual).toBe(ownBudget())
  })

  it('gives V8 its budget back when the connection fails', async () => {
    const { withPatientParser } = await freshModule()
    const problem = new Error('destroyed')

    expect(() => {
      withPatientParser(() => {
        throw problem
      })
    }).toThrow(problem)
    expect(log.at(-1)).toBe(ownBudget())
  })

  it.each([
    ['of another V8', { versions: { v8: '99.1.2' } }],
    ['of Bun, which names a V8', { versions: { v8: '12.4.254', bun: '1.2.3' } }],
    ['of Electron, which freezes its flags', { versions: { v8: '13.6.233', electron: '37.0.0' } }],
    ['that was given one', { execArgv: ['--wasm_tiering_budget=5'] }],
    ['that was given one by its environment', { env: { NODE_OPTIONS: '--wasm-tiering-budget=5' } }],
  ])('is left alone in a process %s', async (_which, facts) => {
    const { usualBudget } = await freshModule()
    const known = { versions: { v8: '11.3.244.8-node.38' }, execArgv: [], env: {} }

    expect(usualBudget(known as never)).toBe(1_800_000)
    expect(usualBudget({ ...known, ...facts } as never)).toBe(undefined)
  })
})

/** What this very V8 says of itself. */
function ownBudget(): string | undefined {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  return /default: (--wasm-tiering-budget=\d+)/.exec(options)?.[1]
}
