// The suites of the ports as a host has them: from the packed package, in a project with a test runner, by the test file that
// docs/adapters.md shows.

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { compile, installPackage } from './installed-package.ts'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs/adapters.md'), 'utf8')
const [, example = ''] = /```ts\n(.*?)```/s.exec(page) ?? []
let project: string

beforeAll(() => {
  project = installPackage()
  for (const peer of ['vitest', 'fast-check'])
    symlinkSync(join(root, 'node_modules', peer), join(project, 'node_modules', peer))
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** Gives each of their tests more than the five seconds of the runner, in which a busy machine does not send 32 MiB. */
const PATIENTLY = ['--testTimeout=60000', '--hookTimeout=60000']

/** Runs one test file of the project, as `npx vitest run` does. */
function runTests(file: string, text: string, options: readonly string[] = []) {
  writeFileSync(join(project, file), text)
  const command = ['node_modules/vitest/vitest.mjs', 'run', file, ...PATIENTLY, ...options]
  const { stdout, stderr, status } = spawnSync(process.execPath, command, {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  return { said: stdout + stderr, status }
}

function writeJournal(members: string): void {
  writeFileSync(
    join(project, 'table-journal.js'),
    `import { memoryJournal } from 'mocap-uplink/node'
    export function tableJournal() {
      const table = memoryJournal()
      return { ...table, close: async () => {}, ${members} }
    }`,
  )
}

describe('mocap-uplink/testing', () => {
  it('passes a journal that keeps the rules, by the test file of docs/adapters.md', () => {
    writeJournal('')

    const { said, status } = runTests('table-journal.test.ts', example)

    expect(said).toMatch(/Tests +\d\d passed \(\d\d\)/)
    expect(status).toBe(0)
  })

  it('names the rule that a faulty journal breaks, as docs/adapters.md says', () => {
    writeJournal('list: async () => (await table.list()).toSorted()')

    const { said, status } = runTests('table-journal.test.ts', example)

    expect(said).toContain(/^FAIL .*$/m.exec(page)?.[0])
    expect(said).toMatch(/Tests +1 failed \| \d\d passed/)
    expect(status).toBe(1)
  })

  it('names the rule that a transport breaks when it repeats what failed', () => {
    const { said, status } = runTests(
      'repeating.test.ts',
      `import { undiciTransport } from 'mocap-uplink/node'
      import { transportContract } from 'mocap-uplink/testing'

      const repeating = (transport) => ({
        ...transport,
        send: async (request) => {
          try {
            return await transport.send(request)
          } catch (error) {
            if (error.phase === 'answer') return transport.send(request)
            throw error
          }
        },
      })
      transportContract('repeating', () => repeating(undiciTransport()), { hasReset: true, isProgressLive: true })`,
      ['--testNamePattern', 'sends once'],
    )

    expect(said).toMatch(/FAIL .+ > sends once, whether the answer is lost or says to come back$/m)
    expect(said).toMatch(/Tests +1 failed/)
    expect(status).toBe(1)
  })

  it('has with it the far ends that the suites need', () => {
    const { said, status } = runTests(
      'all.test.ts',
      `import { vi } from 'vitest'
      import { bytesSource, md5Hasher, systemClock, undiciTransport } from 'mocap-uplink/node'
      import { clockContract, hasherContract, sourceContract, transportContract } from 'mocap-uplink/testing'

      transportContract('undici', () => undiciTransport(), { hasReset: true, isProgressLive: true })
      hasherContract('md5', () => ({ hasher: md5Hasher() }))
      sourceContract('bytes', async (bytes) => ({ source: bytesSource('take-7.mp4', bytes) }))
      clockContract('system', () => {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
        const advance = async (ms) => void (await vi.advanceTimersByTimeAsync(ms))
        return { clock: systemClock(), advance, cleanUp: () => vi.useRealTimers() }
      })`,
    )

    expect(said).toMatch(/Tests +\d+ passed \(\d+\)/)
    expect(status).toBe(0)
  })

  it('runs the engine for a protocol of the host, with the errors of its copy of the package', () => {
    const { said, status } = runTests(
      'put-protocol.test.ts',
      `import { once } from 'node:events'
      import { createServer } from 'node:http'
      import { buffer } from 'node:stream/consumers'
      import { HttpStatusError, ONE_PUT_LIMITS, undiciTransport } from 'mocap-uplink/node'
      import { protocolContract } from 'mocap-uplink/testing'

      protocolContract('one PUT', async () => {
        const stored = new Map()
        const server = createServer(async (request, answer) => {
          stored.set(decodeURIComponent(request.url.slice(1)), await buffer(request))
          answer.end()
        }).listen(0, '127.0.0.1')
        await once(server, 'listening')
        const origin = 'http://127.0.0.1:' + server.address().port
        const addressed = ({ fileIndex, name }) => ({ fileIndex, addresses: [origin + '/' + encodeURIComponent(name)] })
        const ofSession = { order: 'any', addressing: 'session', batchSize: 1, cancelScope: 'none', confirms: false }
        const transport = undiciTransport()
        return {
          protocol: {
            traits: { units: ONE_PUT_LIMITS, ...ofSession },
            create: async (files) => ({ sessionId: 1, files: files.map(addressed) }),
            request: () => ({ method: 'PUT', headers: {} }),
            judge({ status }, { end }) {
              if (status === 200) return { kind: 'received', acceptedEnd: end }
              const facts = { status, isRetryable: true }
              const error = new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'It answers ' + status + '.', facts)
              return { kind: 'retry', error, isThrottle: status === 503 }
            },
          },
          transport,
          credentials: [],
          stored: async (name) => stored.get(name),
          isOpen: async () => true,
          async close() {
            await transport.close()
            server.close()
          },
        }
      })`,
    )

    expect(said).toMatch(/Tests +10 passed \(10\)/)
    expect(status).toBe(0)
  })

  it('has types under which that file compiles strictly, with those of the faces', () => {
    writeFileSync(
      join(project, 'table-journal.ts'),
      `import { memoryJournal, type Journal } from 'mocap-uplink/node'
      export const tableJournal = (_file: string): Journal & { close(): Promise<void> } => ({
        ...memoryJournal(),
        close: async () => {},
      })`,
    )
    writeFileSync(join(project, 'typed.test.ts'), example)

    expect(compile(project, 'typed.test.ts', '--module', 'nodenext')).toEqual({ stdout: '', status: 0 })
  })
})
