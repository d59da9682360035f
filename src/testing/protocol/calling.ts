// Of a protocol: its calls, which may be repeated and are ended by their signal.

import { expect, it } from 'vitest'
import { FILES, type ProtocolRig } from './rig.ts'

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
}
