// Of a protocol: that what is sent arrives, and nothing with it.

import { expect, it } from 'vitest'
import { expectAllStored, type ProtocolRig } from './rig.ts'

/** Files whole and over a failing line, their receipts, and what units carry. */
export function describeDelivering({ begin }: ProtocolRig): void {
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
}
