// Of a protocol: its calls, which may be repeated and are ended by their signal.

import { expect, it } from 'vitest'
import { detailsOf } from '../../core/errors.ts'
import { FILES, type BegunProtocol, type ProtocolRig } from './rig.ts'

/** Each call once more, with a signal that has fired, and the end of a session. */
export function describeCalling({ begin }: ProtocolRig): void {
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

  /** Each call that the protocol has, about a session that was uploaded. */
  async function callsOf({ run, protocol }: BegunProtocol) {
    const { sessionId, plans, record } = await run()
    const { serverFileId = '', parts } = record.ledger().files[0]!
    const receipts = parts.map(({ partNumber, receipt }) => ({ partNumber, receipt: receipt! }))
    const calls = {
      create: async (signal: AbortSignal) => protocol.create(plans, signal),
      register: async (signal: AbortSignal) =>
        protocol.register?.(sessionId, plans.slice(0, 1), { isRepeat: true, signal }),
      confirm: async (signal: AbortSignal) => protocol.confirm?.(sessionId, serverFileId, receipts, signal),
      cancel: async (signal: AbortSignal) => protocol.cancel?.(sessionId, signal),
    }
    return Object.entries(calls).filter(([name]) => protocol[name as keyof typeof calls] !== undefined)
  }

  it('rejects each call whose signal was aborted with the reason itself', async () => {
    const reason = new Error('no longer wanted')

    for (const [name, call] of await callsOf(await begin()))
      await expect(call(AbortSignal.abort(reason)), name).rejects.toBe(reason)
  })

  it('ends each call whose signal fires while it is under way: with its answer, the reason itself, or a word on whether it was heard', async () => {
    const reason = new Error('no longer wanted')

    for (const [name, call] of await callsOf(await begin())) {
      const controller = new AbortController()
      const failed = call(controller.signal).then(
        () => undefined,
        (error: unknown) => error,
      )
      controller.abort(reason)
      const error = await failed
      if (typeof detailsOf(error)['isDoubtful'] !== 'boolean') expect([undefined, reason], name).toContain(error)
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
    expect(await isOpen(sessionId!)).toBe(!protocol.cancel)
  })
}
