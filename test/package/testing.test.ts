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

  it('passes a source that reads at once, whose close has nothing to wait for', () => {
    const { said, status } = runTests(
      'at-once.test.ts',
      `import { bytesSource } from 'mocap-uplink/node'
      import { sourceContract } from 'mocap-uplink/testing'

      sourceContract('at once', async (bytes) => {
        const open = async () => {
          const read = async (into, at) => into.set(bytes.subarray(at, at + into.byteLength))
          return { read, verify: async () => {}, close: async () => {} }
        }
        return { source: { ...bytesSource('take-7.mp4', bytes), open } }
      })`,
      ['--testNamePattern', 'reads under way'],
    )

    expect(said).toMatch(/Tests +1 passed/)
    expect(status).toBe(0)
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

  it('names the rule that each of many faulty adapters breaks', () => {
    const broken = [
      'reads what is lost as zeros > says of each loss that it cannot be read, and not that it has changed: it may come back as it was',
      'aborts in its own words > reading > fills a window that nobody wants any more, or rejects with the reason of the signal',
      'writes after an abort > reading > writes nothing into a window whose read has ended, however it ended: the window is used again',
      'minds only newer files > being what it was > does not open as a source of another time (by 5 ms), where it has one',
      'counts in 32 bits > reading > rejects a range that reaches four gibibytes beyond its end as changed, naming the source',
      'gives a part at a time > reading > fills a large window, of which a stream or a drive may give a part at a time',
      'cuts spaces off > keys > keeps apart keys that differ by a space at the end',
      'closes under its reads > ending > lets reads under way come to their end before it is closed',
      'writes to the last opened > the lease > is over once it is given back: closing again takes nothing from the next holder, and appending adds nothing',
      'writes to the last opened > the lease > does not hold other keys, whose records are kept apart while all are open',
      'knows few kinds > records > gives back every kind of record as it was appended, in order',
      'takes short records only > records > takes a record of megabytes: a session is given the addresses of all its parts at once',
      'writes when it is closed > the lease > is over once it is given back: closing again takes nothing from the next holder, and appending adds nothing',
      'writes when it is closed > the lease > holds against another instance over the same place, which reads the records after it',
      'mixes bodies up > takes bodies of one piece, many at once, which may change from then on, or says that they must be updated',
      'loses the end of a window > is done with a window when its update has settled',
      'keeps short windows for later > is done with a window when its update has settled',
      'writes the query anew > what goes out > keeps method, path, query and headers as given and adds no content-type',
      'keeps cookies > what goes out > keeps no cookie of an answer for the next request',
      'sends a Blob as it is > what goes out > refuses a blob body of fewer bytes than announced',
      'reads ahead in steps > what goes out > lets a window be refilled as soon as the next is asked for, in steps',
      'follows windows alone > no answer > an answer lost after the last byte of bytes (reset) is doubtful',
      'asks the platform > no answer > a URL that is none is refused without being repeated',
      'claims a reset > what it tells > promises no more than it keeps: no reset by an abort, and no news of a body under way, that does not come',
      'waits on > aborting > answers with what it has when a wait took too long and the head has come',
      'leaks a body by the cause > has an opinion on every answer, takes only a success for a receipt, and shows no body',
      'leaks the words of one status > has an opinion on every answer, takes only a success for a receipt, and shows no body',
      'reads no Retry-After > has an opinion on every answer, takes only a success for a receipt, and shows no body',
      'knows no signal > rejects each call whose signal was aborted with the reason itself',
    ]
    const names = broken.map((line) =>
      line
        .split(' > ')
        .at(-1)!
        .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )

    const { said, status } = runTests(
      'broken.test.ts',
      `import * as face from 'mocap-uplink/node'
      import { hasherContract, journalContract, protocolContract, sourceContract, transportContract } from 'mocap-uplink/testing'
      const { bytesSource, fetchTransport, HttpStatusError, md5Hasher, memoryJournal, TransportError, undiciTransport, UploadError } = face

      const source = (label, change) =>
        sourceContract(label, async (bytes) => {
          const good = bytesSource('take-7.mp4', bytes)
          const state = { isLost: false }
          const gone = async () => {
            if (state.isLost) throw new UploadError('ERR_UPLOAD_SOURCE_READ', 'take-7.mp4 is gone.')
          }
          const open = async (expected) => {
            await gone()
            const reader = await good.open(expected)
            return { ...reader, verify: () => gone().then(() => reader.verify()), ...change(reader, state) }
          }
          const describe = (signal) => gone().then(() => good.describe(signal))
          return { source: { ...good, describe, open }, losses: { 'it went': () => void (state.isLost = true) } }
        })
      source('reads what is lost as zeros', (reader, state) => ({
        read: async (into, at) => (state.isLost ? void into.fill(0) : reader.read(into, at)),
      }))
      source('aborts in its own words', (reader) => ({
        read: async (into, at, signal) => {
          if (signal?.aborted) throw new UploadError('ERR_UPLOAD_SOURCE_READ', 'It was aborted.')
          await reader.read(into, at)
        },
      }))
      source('gives a part at a time', (reader) => ({
        read: async (into, at) => reader.read(into.subarray(0, 65_536), at),
      }))
      source('closes under its reads', (reader) => ({
        read: async (into, at) => {
          await reader.read(into.subarray(0, 1), at)
          await new Promise(setImmediate)
          await reader.read(into.subarray(1), at + 1)
        },
        close: async () => {},
      }))
      source('writes after an abort', (reader) => {
        const reads = []
        return {
          read: (into, at, signal) => {
            reads.push(new Promise(setImmediate).then(() => reader.read(into, at)))
            return Promise.race([reads.at(-1), new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))])
          },
          close: () => Promise.allSettled(reads).then(() => reader.close()),
        }
      })
      sourceContract('minds only newer files', async (bytes) => {
        const good = bytesSource('take-7.mp4', bytes)
        const open = async ({ sizeBytes, modifiedAtMs = 7 }) => {
          if (modifiedAtMs < 7) throw new UploadError('ERR_UPLOAD_SOURCE_CHANGED', 'It changed.')
          return good.open({ sizeBytes })
        }
        return { source: { ...good, describe: async () => ({ sizeBytes: bytes.length, modifiedAtMs: 7 }), open } }
      })
      source('counts in 32 bits', (reader) => ({
        read: async (into, at, signal) => reader.read(into, at % 2 ** 32, signal),
      }))
      const journal = (label, change) =>
        journalContract(label, async () => {
          const good = memoryJournal()
          return { journal: { ...good, ...change(good) }, another: () => good }
        })
      journal('cuts spaces off', (good) => ({
        open: (key) => good.open(key.trim()),
        read: (key) => good.read(key.trim()),
      }))
      journal('writes to the last opened', (good) => {
        let last
        const open = async (key) => {
          const session = (last = await good.open(key))
          return { ...session, append: (records) => last.append(records) }
        }
        return { open }
      })
      journal('knows few kinds', (good) => ({
        open: async (key) => {
          const session = await good.open(key)
          const isKnown = ({ type }) => type !== 'session.replaced'
          return { ...session, append: (records) => session.append(records.filter(isKnown)) }
        },
      }))
      journal('takes short records only', (good) => ({
        open: async (key) => {
          const session = await good.open(key)
          const isShort = (record) => JSON.stringify(record).length < 400_000
          return { ...session, append: (records) => session.append(records.filter(isShort)) }
        },
      }))
      journal('writes when it is closed', (good) => {
        const waiting = new Map()
        const open = async (key) => {
          const session = await good.open(key)
          const records = []
          waiting.set(key, records)
          const append = async (more) => void records.push(...structuredClone(more))
          const close = () => Promise.resolve(session.append(records.splice(0))).then(session.close, session.close)
          return { ...session, append, close }
        }
        return { open, read: async (key) => [...(await good.read(key)), ...(waiting.get(key) ?? [])] }
      })
      let newest
      const whole = (bytes) => {
        newest = md5Hasher().whole(bytes)
        return () => newest()
      }
      hasherContract('mixes bodies up', () => ({ hasher: { ...md5Hasher(), whole } }))
      const start = () => {
        const hash = md5Hasher().start()
        return { update: (bytes) => hash.update(bytes.subarray(0, 131_072)), digest: () => hash.digest() }
      }
      hasherContract('loses the end of a window', () => ({ hasher: { ...md5Hasher(), start } }))
      const collect = () => {
        const pieces = []
        return {
          update: (bytes) => void pieces.push(bytes.byteLength < 65_536 ? bytes : bytes.slice()),
          digest: () => md5Hasher().whole(Buffer.concat(pieces))(),
        }
      }
      hasherContract('keeps short windows for later', () => ({ hasher: { ...md5Hasher(), start: collect } }))
      const keepsCookies = () => {
        const good = undiciTransport()
        let cookies = {}
        const send = async (request) => {
          const reply = await good.send(Object.assign(request, { headers: { ...request.headers, ...cookies } }))
          cookies = { cookie: reply.headers['set-cookie'] ?? '' }
          return reply
        }
        return { ...good, send }
      }
      transportContract('keeps cookies', keepsCookies, { hasReset: true, isProgressLive: true })
      const noReset = { hasReset: false, isProgressLive: false, refusesContinue: true }
      transportContract('claims a reset', () => ({ ...fetchTransport(), isResetByAbort: true }), noReset)
      const waitsOn = () => {
        const good = undiciTransport()
        const send = async (request) => {
          const reply = await good.send(request)
          request.signal.throwIfAborted()
          return reply
        }
        return { ...good, send }
      }
      transportContract('waits on', waitsOn, { hasReset: true, isProgressLive: true })
      const transport = (label, send) => {
        const create = () => {
          const good = undiciTransport()
          return { ...good, send: (request) => send(request, good) }
        }
        transportContract(label, create, { hasReset: true, isProgressLive: true })
      }
      transport('writes the query anew', (request, good) => {
        if (URL.canParse(request.url)) {
          const { origin, pathname, searchParams } = new URL(request.url)
          request.url = origin + pathname + '?' + searchParams
        }
        return good.send(request)
      })
      transport('sends a Blob as it is', (request, good) => {
        const { body } = request
        if (body?.kind === 'blob') request.body = { ...body, lengthBytes: body.blob.size }
        return good.send(request)
      })
      transport('reads ahead in steps', (request, good) => {
        const { body } = request
        async function* windows() {
          const { step, ...sequence } = body.windows()
          const pieces = []
          for (let found = step?.(); found && !found.done; found = step()) {
            if (found.done === false) pieces.push(found.value)
            else await found
          }
          yield* step ? pieces : sequence
        }
        if (body?.kind === 'windows') request.body = { ...body, windows }
        return good.send(request)
      })
      transport('follows windows alone', (request, good) =>
        good.send(request).catch((error) => {
          if (error.phase !== 'answer' || request.signal.aborted || request.body?.kind !== 'bytes') throw error
          throw new TransportError(error.code, error.message, { phase: 'send', ending: 'neverWhole' })
        }),
      )
      transport('asks the platform', async (request, good) => {
        request.url = new URL(request.url).href
        return good.send(request)
      })
      const protocol = (label, change) =>
        protocolContract(label, async () => {
          const address = (name) => 'http://127.0.0.1:1/' + encodeURIComponent(name)
          const reply = { status: 200, headers: {}, body: new Uint8Array(), isBodyCut: false }
          const told = ({ lengthBytes, bytes }) => lengthBytes ?? bytes.byteLength
          const ofSession = { order: 'any', addressing: 'session', batchSize: 1 }
          return {
            protocol: {
              traits: { units: face.ONE_PUT_LIMITS, ...ofSession },
              create: async (files, signal) => {
                signal.throwIfAborted()
                return { sessionId: 1, files: files.map(({ fileIndex, name }) => ({ fileIndex, addresses: [address(name)] })) }
              },
              request: () => ({ method: 'PUT', headers: {} }),
              judge: ({ status }, { end }) =>
                status < 300
                  ? { kind: 'received', acceptedEnd: end }
                  : { kind: 'final', error: new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'No.', { status }) },
              ...change,
            },
            transport: {
              send: async ({ body, onSent }) => (onSent?.(told(body)), reply),
              endingOf: () => 'doubtful',
              close: async () => {},
            },
            credentials: [],
            stored: async () => undefined,
            isOpen: async () => true,
            close: async () => {},
          }
        })
      const failed = (options) => new UploadError('ERR_UPLOAD_HTTP_STATUS', 'No.', options)
      protocol('leaks a body by the cause', {
        judge: ({ body, status }, { end }) =>
          status === 200
            ? { kind: 'received', acceptedEnd: end }
            : { kind: 'final', error: failed({ cause: new Error(new TextDecoder().decode(body)) }) },
      })
      protocol('leaks the words of one status', {
        judge: ({ body, status }, { end }) =>
          status === 200
            ? { kind: 'received', acceptedEnd: end }
            : { kind: 'final', error: failed({ details: status === 403 ? { said: new TextDecoder().decode(body) } : {} }) },
      })
      protocol('reads no Retry-After', {
        judge: ({ headers, status }, { end }) =>
          status === 200
            ? { kind: 'received', acceptedEnd: end }
            : {
                ...{ kind: 'retry', error: failed({ isRetryable: true }) },
                retryAfterMs: Number(headers['retry-after']) * 1000,
              },
      })
      protocol('knows no signal', {
        create: async (files) => ({
          sessionId: 1,
          files: files.map(({ fileIndex }) => ({ fileIndex, addresses: ['http://127.0.0.1:1/' + fileIndex] })),
        }),
      })`,
      ['--testNamePattern', names.join('|')],
    )

    const failing = [...said.matchAll(/^ *FAIL +broken\.test\.ts > (.+?): the contract of a \w+ > (.+)$/gm)]
    expect(failing.map(([, label, rest]) => `${label!} > ${rest!}`).sort()).toEqual(broken.toSorted())
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
      import { HttpStatusError, ONE_PUT_LIMITS, undiciTransport, UploadError } from 'mocap-uplink/node'
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
        const ofSession = { order: 'any', addressing: 'session', batchSize: 1 }
        const transport = undiciTransport()
        return {
          protocol: {
            traits: { units: ONE_PUT_LIMITS, ...ofSession },
            create: async (files, signal) => {
              signal.throwIfAborted()
              await new Promise(setImmediate)
              const details = { isDoubtful: true, sessionId: 1 }
              if (signal.aborted) throw new UploadError('ERR_UPLOAD_CANCELLED', 'Given up.', { details })
              return { sessionId: 1, files: files.map(addressed) }
            },
            request: () => ({ method: 'PUT', headers: {} }),
            judge({ status }, { end }) {
              if (status === 200) return { kind: 'received', acceptedEnd: end }
              const facts = { status, isRetryable: true }
              const error = new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'It answers ' + status + '.', facts)
              return { kind: 'retry', error }
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

    expect(said).toMatch(/Tests +14 passed \(14\)/)
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
