// Of a protocol: what it says of itself, and of every answer.

import fc from 'fast-check'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { isUploadError } from '../../core/errors.ts'
import type { Unit } from '../../core/ports.ts'
import type { ProtocolRig } from './rig.ts'

/** Stands where bodies say in words what is wrong. */
const MARK = 'mark-7c1f'
const xml = (code: string): string => `<Error><Code>${code}</Code><Message>${MARK}</Message></Error>`
const json = (code: string): string => JSON.stringify({ error: { code, message: MARK } })

/** Its traits, and its judgement. */
export function describeSpeaking({ begin }: ProtocolRig): void {
  it('has traits that leave room for a part, and registers where addresses come in batches', async () => {
    const { protocol } = await begin()
    const { units, addressing, batchSize } = protocol.traits

    expect(units.minBytes).toBeLessThanOrEqual(units.maxBytes)
    expect(units.maxCount).toBeGreaterThanOrEqual(1)
    expect(units.multipleOfBytes).toBeGreaterThanOrEqual(1)
    if (addressing === 'batches') {
      expect(protocol.register).toBeTypeOf('function')
      expect(batchSize).toBeGreaterThanOrEqual(1)
    }
  })

  it('has an opinion on every answer, takes only a success for a receipt, and shows no body', async () => {
    const { protocol } = await begin()
    const unit: Unit = { fileIndex: 0, partNumber: 1, start: 0, end: 100 }
    const check = (status: number, headers: Readonly<Record<string, string>>, text: string): void => {
      const body = new TextEncoder().encode(text)
      const verdict = protocol.judge({ status, headers, body, isBodyCut: false }, unit)

      if (verdict.kind === 'received') {
        expect(status).toBeLessThan(300)
        expect(Number.isSafeInteger(verdict.acceptedEnd), `the acceptedEnd of ${status} is a whole number`).toBe(true)
        return
      }
      expect(isUploadError(verdict.error), `the error of ${status} is an UploadError`).toBe(true)
      const shown = inspect(verdict.error, { depth: Infinity, maxArrayLength: null, maxStringLength: null })
      expect(shown + JSON.stringify(verdict.error)).not.toContain(MARK)
      if (verdict.kind !== 'retry') return
      expect(verdict.error.isRetryable, `the error of ${status} says that it may be repeated`).toBe(true)
      const { retryAfterMs = 0 } = verdict
      expect(retryAfterMs >= 0, `the retryAfterMs of ${status} is absent, or 0 or more`).toBe(true)
    }
    const headerNames = ['etag', 'upload-offset', 'retry-after', 'date', 'x-ms-error-code', '__proto__']
    const bodies = [(text: string) => `${text} ${MARK}`, xml, json]

    // Chance leaves out many a status, and most errors are of one.
    for (let status = 200; status <= 599; status += 1)
      for (const body of bodies) check(status, {}, body('AccessDenied'))
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.dictionary(fc.constantFrom(...headerNames), fc.string({ maxLength: 20 })),
        fc.oneof(...bodies.map((body) => fc.string().map(body))),
        check,
      ),
    )
  })
}
