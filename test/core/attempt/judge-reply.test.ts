// What an answer means, beyond what its protocol says: a far end that has too much, and one that repeats a secret.

import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/core/address/address.ts'
import { judgeReply } from '../../../src/core/attempt/judge-reply.ts'
import { classifyStorageFailure } from '../../../src/core/attempt/storage-failure.ts'
import { HttpStatusError } from '../../../src/core/errors.ts'
import type { Protocol, TransportReply, Unit, Verdict } from '../../../src/core/ports.ts'

const SECRET = 'Z9x8c7v6b5n4m3a2s1'
const address = readAddress(`https://store.test/0/1?X-Amz-Signature=${SECRET}`)
const unit: Unit = { fileIndex: 0, partNumber: 1, start: 100, end: 600 }
const reply = (fields: Partial<TransportReply>): TransportReply => ({
  ...{ status: 200, headers: {}, body: new Uint8Array(), isBodyCut: false },
  ...fields,
})
const judged = (judge: Protocol['judge'], answer: TransportReply, sentBytes = 500, hasTold = true) =>
  judgeReply({ judge }, { unit, address, sentBytes, hasTold }, answer)

describe('an answer', () => {
  it('that says more was accepted than there is or was sent, or says no number, is tried again, and slows nothing down', () => {
    for (const [acceptedEnd, sentBytes, code] of [
      [601, 501, 'ERR_UPLOAD_SERVICE_REPLY'],
      ...[NaN, 300.5, '600' as unknown as number].map((end) => [end, 500, 'ERR_UPLOAD_SERVICE_REPLY'] as const),
      [600, 499, 'ERR_UPLOAD_NETWORK'],
    ] as const) {
      const refused = judged(() => ({ kind: 'received', acceptedEnd }), reply({}), sentBytes)
      expect(refused).toMatchObject({ kind: 'refused', verdict: { kind: 'retry', error: { code, isRetryable: true } } })
      expect(refused).not.toHaveProperty('verdict.isThrottle')
    }
    expect(judged(() => ({ kind: 'received', acceptedEnd: 600 }), reply({}))).toMatchObject({ kind: 'received' })
  })

  it('of a transport that has told nothing of what it sent is its fault, and not tried again', () => {
    const received = () => ({ kind: 'received', acceptedEnd: 600 }) as const
    expect(judged(received, reply({}), 0, false)).toMatchObject({
      kind: 'refused',
      verdict: { error: { code: 'ERR_UPLOAD_INTERNAL', message: /onSent/, isRetryable: false } },
    })
    // What it refuses needs no word of ours.
    const refused = judged(classifyStorageFailure, reply({ status: 503 }), 0, false)
    expect(refused).toMatchObject({ verdict: { kind: 'retry', error: { status: 503 } } })
  })

  it('that comes before all was sent is told in words for a person, and in numbers for the host', () => {
    expect(judged(() => ({ kind: 'received', acceptedEnd: 600 }), reply({}), 7)).toMatchObject({
      verdict: {
        error: {
          message: 'The storage accepted part 1 before all of it was sent.',
          details: { sentBytes: 7 },
        },
      },
    })
  })

  it('whose ETag repeats the address comes to its protocol without one, and without any other header', () => {
    const seen: unknown[] = []
    const judge = (given: TransportReply): Verdict => {
      seen.push(given)
      return { kind: 'received', acceptedEnd: 600 }
    }
    const headers = { etag: `"${SECRET}"`, date: 'today' }
    judged(judge, reply({ status: 201, headers }))
    judged(judge, reply({ headers: { etag: '"an-ordinary-one"' } }))

    expect(seen).toMatchObject([{ status: 201, headers: {} }, { headers: { etag: '"an-ordinary-one"' } }])
    expect(JSON.stringify(seen)).not.toContain(SECRET)
    expect(headers.etag).toContain(SECRET)
  })

  it('whose code repeats the address is judged by its status alone; any other code is told', () => {
    const told = (code: string) =>
      judged(
        classifyStorageFailure,
        reply({ status: 409, body: new TextEncoder().encode(`<Code>${code}</Code>`), headers: { 'retry-after': '9' } }),
      )

    const echo = told(SECRET)
    expect(echo).toMatchObject({ kind: 'refused', verdict: { kind: 'final', error: { status: 409 } } })
    expect((echo as { verdict: { error: Error } }).verdict.error.message).toBe('The storage refused part 1 (409).')
    expect(told('EntityTooLarge')).toMatchObject({ verdict: { error: { serviceCode: 'EntityTooLarge' } } })
  })

  it('that refuses under a status of success, in a code that repeats the address, is no receipt', () => {
    const judge = ({ body }: TransportReply): Verdict => {
      if (body.length === 0) return { kind: 'received', acceptedEnd: 600 }
      const how = { status: 200, serviceCode: SECRET }
      return { kind: 'final', error: new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', SECRET, how) }
    }

    const refused = judged(judge, reply({ body: new TextEncoder().encode(SECRET) }))

    expect(refused).toMatchObject({ kind: 'refused', verdict: { kind: 'retry' } })
    expect(JSON.stringify(refused)).not.toContain(SECRET)
  })
})
