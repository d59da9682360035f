// undici's parser is compiled with flags of its own, and V8 has its usual ones back before anything else is compiled.

import { execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { beforeEach, describe, expect, it, vi } from 'vitest'

const log: string[] = []
vi.mock('node:v8', () => ({ setFlagsFromString: (flag: string) => void log.push(flag) }))

/** As a process has it that has sent nothing yet. */
async function freshModule() {
  vi.resetModules()
  return import('../../../../src/adapters/node/http/baseline-parser.ts')
}
const connect = (): void => void log.push('connect')
const names = ['wasm-dynamic-tiering', 'wasm-tier-up', 'wasm-lazy-compilation']
const CHANGED = names.map((name) => `--no-${name}`)
const USUAL = names.map((name) => `--${name}`)

describe('the parser of answers', () => {
  beforeEach(() => void log.splice(0))

  it('is compiled by the baseline compiler, once, and V8 gets its own flags back', async () => {
    const { withBaselineParser } = await freshModule()

    withBaselineParser(connect)
    withBaselineParser(connect)

    expect(log).toEqual([...CHANGED, 'connect', ...USUAL, 'connect'])
    expect(ownFlags()).toEqual(expect.arrayContaining(USUAL))
  })

  it('gives V8 its flags back when the connection fails', async () => {
    const { withBaselineParser } = await freshModule()
    const problem = new Error('destroyed')

    expect(() => {
      withBaselineParser(() => {
        throw problem
      })
    }).toThrow(problem)
    expect(log).toEqual([...CHANGED, ...USUAL])
  })

  it.each([
    ['of another V8', { versions: { v8: '99.1.2' } }],
    ['of Bun, which names a V8', { versions: { v8: '12.4.254', bun: '1.2.3' } }],
    ['of Electron, which freezes its flags', { versions: { v8: '13.6.233', electron: '37.0.0' } }],
    ['that was given one', { execArgv: ['--no-wasm_dynamic_tiering'] }],
    ['that was given one by its environment', { env: { NODE_OPTIONS: '--wasm-tier-up-filter=5' } }],
    ['without a baseline compiler', { execArgv: ['--no-liftoff'] }],
  ])('is left alone in a process %s', async (_which, facts) => {
    const { hasUsualFlags } = await freshModule()
    const known = { versions: { v8: '11.3.244.8-node.38' }, execArgv: [], env: {} }

    expect(hasUsualFlags(known as never)).toBe(true)
    expect(hasUsualFlags({ ...known, ...facts } as never)).toBe(false)
  })

  it('is not optimised by this V8, which does optimise what is compiled after it', async () => {
    const lines = await compilationsOf(`
      const { setFlagsFromString } = require('node:v8')
      const parser = require('undici/lib/llhttp/llhttp_simd-wasm.js')
      const text = Buffer.from('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n')
      const started = (bytes) => {
        const module = new WebAssembly.Module(bytes)
        const env = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, () => 0]))
        const { memory, malloc, llhttp_alloc, llhttp_execute } = new WebAssembly.Instance(module, { env }).exports
        const [at, state] = [malloc(text.length), llhttp_alloc(2)]
        new Uint8Array(memory.buffer).set(text, at)
        return (answers) => {
          for (let count = 0; count < answers; count += 1) llhttp_execute(state, at, text.length)
        }
      }
      for (const flag of ${JSON.stringify(CHANGED)}) setFlagsFromString(flag)
      const readInOurs = started(parser)
      for (const flag of ${JSON.stringify(USUAL)}) setFlagsFromString(flag)
      readInOurs(5_000)
      // An empty section of its own: V8 compiles the same bytes once.
      const readInUsual = started(Buffer.concat([parser, Buffer.from([0, 1, 0])]))
      const goOn = () => {
        readInUsual(50)
        setImmediate(goOn)
      }
      goOn()
    `)
    const [ours] = lines.map(moduleOf)
    const optimised = lines.filter((line) => line.includes('using TurboFan')).map(moduleOf)

    expect(ours).toMatch(/^0x/)
    expect(optimised).not.toHaveLength(0)
    expect(optimised).not.toContain(ours)
  })
})

/** What V8 says that it has compiled, until it has optimised something. */
async function compilationsOf(script: string): Promise<string[]> {
  const child = spawn(process.execPath, ['--trace-wasm-compilation-times', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  try {
    for await (const line of createInterface(child.stdout)) {
      if (line.startsWith('Compiled function')) lines.push(line)
      if (line.includes('using TurboFan')) break
    }
  } finally {
    child.kill('SIGKILL')
  }
  return lines
}

/** \`0x55d0\` of \`Compiled function 0x55d0#20 using …\`. */
function moduleOf(line: string): string | undefined {
  return /function (0x\w+)#/.exec(line)?.[1]
}

/** What this very V8 says of itself. */
function ownFlags(): string[] {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  return [...options.matchAll(/default: (--wasm-[a-z-]+)$/gm)].map(([, flag]) => flag!)
}
