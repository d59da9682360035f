// What every Protocol promises, through the real engine and against its own far end. A protocol's test calls this with a
// way to start that far end.

import fc from 'fast-check'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesSource } from '../adapters/web/bytes-source.ts'
import { isUploadError } from '../core/errors.ts'
import type { Protocol, Transport, Unit } from '../core/ports.ts'
import { faultyLine, type Fault } from './protocol/faulty-line.ts'
import { bytesOfSeed, runProtocol, type ProtocolRunOptions } from './protocol-run.ts'

/** A protocol with its far end. */
export interface ProtocolSubject {
  readonly protocol: Protocol
  readonly transport: Transport
  /** Puts what the protocol needs between the engine and the network. Default: nothing. */
  readonly over?: (transport: Transport) => Transport
  /** Credentials of the service; no unit may carry one. */
  readonly credentials: readonly string[]
  /** Default: none is asked for. */
  readonly partSizeBytes?: number
  /** The bytes of a finished file; undefined while it is not finished. */
  stored(name: string): Promise<Uint8Array | undefined>
  /** Whether the far end still waits for anything of a session. */
  isOpen(sessionId: string | number): Promise<boolean>
  close(): Promise<void>
}

const FILES = [
  ['swing 1.mp4', 3_500],
  ['__proto__', 1],
  ['empty.mov', 0],
  ['ünïcode.mp4', 1_000],
] as const

/**
 * Declares the tests of a protocol. `start` starts one with its far end, which must be a real or an independent one: what is stored is
 * compared with what was sent. Checked, through the engine and over a line that loses requests and answers: four files, one of
 * them empty, arrive whole; no unit carries a credential; registering, confirming and cancelling can be repeated; calls end with their
 * signal; every answer is judged. Waits between attempts are a hundredth of the longest that the engine makes. Addresses that
 * expire, and answers that the far end itself gives under load, are not looked at.
 */
export function protocolContract(label: string, start: () => Promise<ProtocolSubject>): void {
  async function begin(fault?: Fault) {
    const subject = await start()
    onTestFinished(() => subject.close())
    const line = faultyLine(subject.transport, fault, FILES.length)
    const transport = subject.over?.(line.transport) ?? line.transport
    const sources = FILES.map(([name, sizeBytes], seed) => bytesSource(name, bytesOfSeed(sizeBytes, seed)))
    const run = (options: Partial<ProtocolRunOptions> = {}) =>
      runProtocol({
        protocol: subject.protocol,
        transport,
        sources,
        ...(subject.partSizeBytes === undefined ? {} : { partSizeBytes: subject.partSizeBytes }),
        ...options,
      })
    return { ...subject, ...line, run }
  }
  async function expectAllStored(subject: ProtocolSubject): Promise<void> {
    for (const [seed, [name, sizeBytes]] of FILES.entries()) {
      const bytes = await subject.stored(name)
      expect(bytes && Buffer.from(bytes).equals(bytesOfSeed(sizeBytes, seed)), name).toBe(true)
    }
  }

  describe(`${label}: the contract of a protocol`, () => {
    it('has the verbs that its traits name, and no others', async () => {
      const { protocol } = await begin()
      const { units, addressing, batchSize, confirms, cancelScope } = protocol.traits

      expect(units.minBytes).toBeLessThanOrEqual(units.maxBytes)
      expect(units.maxCount).toBeGreaterThanOrEqual(1)
      expect(units.multipleOfBytes).toBeGreaterThanOrEqual(1)
      expect(protocol.confirm !== undefined).toBe(confirms)
      expect(protocol.cancel !== undefined).toBe(cancelScope === 'session')
      if (addressing === 'batches') {
        expect(protocol.register).toBeTypeOf('function')
        expect(batchSize).toBeGreaterThanOrEqual(1)
      }
    })

    it('stores every file with the bytes of its source, an empty one too', async () => {
      const subject = await begin()

      const { result, record } = await subject.run()

      expect(record.ledger().files.flatMap(({ error }) => (error === undefined ? [] : [error]))).toEqual([])
      expect(result).toEqual({ confirmedCount: 4, failedCount: 0 })
      await expectAllStored(subject)
    })

    it('has a receipt to the end of every part', async () => {
      const { run } = await begin()

      const { record } = await run()

      for (const file of record.ledger().files) {
        expect(file.parts.map(({ receipt }) => receipt?.acceptedEnd)).toEqual(file.parts.map(({ end }) => end))
      }
    })

    it.each([
      ['a busy storage', 'busy'],
      ['a connection lost before anything arrived', 'lost'],
      ['an answer lost after everything arrived', 'answerLost'],
    ] as const)('stores the same bytes after %s', async (_name, kind) => {
      const subject = await begin({ kind, everyNth: 2 })

      const { result, events } = await subject.run()

      expect(events.filter(({ type }) => type === 'retry').length).toBeGreaterThanOrEqual(2)
      expect(result).toEqual({ confirmedCount: 4, failedCount: 0 })
      await expectAllStored(subject)
    })

    it('puts no credential of the service on a unit', async () => {
      const { run, units, credentials } = await begin()

      await run()

      expect(units.length).toBeGreaterThanOrEqual(4)
      for (const { url, headers } of units) {
        const text = url + JSON.stringify(headers)
        expect(credentials.filter((secret) => text.includes(secret))).toEqual([])
        expect(
          Object.keys(headers).filter((name) => /^(?:authori[sz]ation|authentication|cookie|x-api-key)$/i.test(name)),
        ).toEqual([])
        expect(Object.keys(headers)).toEqual(Object.keys(headers).map((name) => name.toLowerCase()))
      }
    })

    it('confirms a file again with the same receipts', async () => {
      const { run, protocol } = await begin()
      const { record, sessionId } = await run()
      const again = record.ledger().files.map(async ({ serverFileId, parts }) => {
        const receipts = parts.map(({ partNumber, receipt }) => ({ partNumber, receipt: receipt! }))
        return protocol.confirm?.(sessionId, serverFileId!, receipts, new AbortController().signal)
      })

      await expect(Promise.all(again)).resolves.toEqual(FILES.map(() => undefined))
    })

    it('gives the same files addresses again, where it registers them and the first answer may have been lost', async () => {
      const { run, protocol } = await begin()
      const { sessionId, plans } = await run()
      const batch = plans.slice(0, protocol.traits.batchSize)
      const options = { isRepeat: true, signal: new AbortController().signal }

      const again = await protocol.register?.(sessionId, batch, options)

      const expected = batch.map(({ fileIndex, partCount }) => [fileIndex, partCount])
      if (again !== undefined)
        expect(again.map(({ fileIndex, addresses }) => [fileIndex, addresses.length])).toEqual(expected)
    })

    it('gives the addresses with a session that replaces another one, where an upload that is confirmed may be gone', async () => {
      const { run, protocol } = await begin()
      const { plans } = await run()
      if (!protocol.register || !protocol.confirm) return
      const lost = plans.slice(0, 1)

      const { files } = await protocol.create(lost, new AbortController().signal, undefined, true)

      expect(files?.map(({ fileIndex, addresses }) => [fileIndex, addresses.length])).toEqual(
        lost.map(({ fileIndex, partCount }) => [fileIndex, partCount]),
      )
    })

    it('rejects each call whose signal was aborted with the reason itself', async () => {
      const { run, protocol } = await begin()
      const { sessionId, plans, record } = await run()
      const { serverFileId = '', parts } = record.ledger().files[0]!
      const receipts = parts.map(({ partNumber, receipt }) => ({ partNumber, receipt: receipt! }))
      const reason = new Error('no longer wanted')
      const signal = AbortSignal.abort(reason)

      const calls = {
        create: async () => protocol.create(plans, signal),
        register: async () => protocol.register?.(sessionId, plans.slice(0, 1), { isRepeat: true, signal }),
        confirm: async () => protocol.confirm?.(sessionId, serverFileId, receipts, signal),
        cancel: async () => protocol.cancel?.(sessionId, signal),
      }

      for (const [name, call] of Object.entries(calls)) {
        if (protocol[name as keyof typeof calls] !== undefined) await expect(call(), name).rejects.toBe(reason)
      }
    })

    it('ends the whole session when it is cancelled, also when told twice', async () => {
      const { run, protocol, isOpen } = await begin()
      const stop = new AbortController()
      let sessionId: string | number | undefined
      const running = run({
        signal: stop.signal,
        concurrency: 1,
        onEvent(_, id) {
          sessionId = id
          stop.abort(new Error('cancelled by the test'))
        },
      })
      await expect(running).rejects.toThrow('cancelled by the test')
      const before = await isOpen(sessionId!)

      for (let times = 0; times < 2; times += 1) await protocol.cancel?.(sessionId!, new AbortController().signal)

      expect(before).toBe(true)
      expect(await isOpen(sessionId!)).toBe(protocol.traits.cancelScope === 'none')
    })

    it('has an opinion on every answer, takes only a success for a receipt, and shows no body', async () => {
      const { protocol } = await begin()
      const unit: Unit = { fileIndex: 0, partNumber: 1, start: 0, end: 100 }
      const headerNames = ['etag', 'upload-offset', 'retry-after', 'date', 'x-ms-error-code', '__proto__']

      fc.assert(
        fc.property(
          fc.integer({ min: 200, max: 599 }),
          fc.dictionary(fc.constantFrom(...headerNames), fc.string({ maxLength: 20 })),
          fc.oneof(
            fc.string(),
            fc.string().map((text) => `<Error><Code>${text}</Code></Error>`),
          ),
          (status, headers, text) => {
            const body = new TextEncoder().encode(`${text} mark-7c1f`)
            const verdict = protocol.judge({ status, headers, body, isBodyCut: false }, unit)

            if (verdict.kind === 'received') {
              expect(status).toBeLessThan(300)
              expect(Number.isSafeInteger(verdict.acceptedEnd), `the acceptedEnd of ${status} is a whole number`).toBe(
                true,
              )
              return
            }
            expect(isUploadError(verdict.error), `the error of ${status} is an UploadError`).toBe(true)
            const shown = inspect(verdict.error, { depth: Infinity, maxArrayLength: null, maxStringLength: null })
            expect(shown + JSON.stringify(verdict.error)).not.toContain('mark-7c1f')
            if (verdict.kind !== 'retry') return
            expect(verdict.error.isRetryable, `the error of ${status} says that it may be repeated`).toBe(true)
            const { retryAfterMs = 0 } = verdict
            expect(retryAfterMs >= 0, `the retryAfterMs of ${status} is absent, or 0 or more`).toBe(true)
          },
        ),
      )
    })
  })
}
