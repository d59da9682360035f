// What the client sends is what the service reads: whatever passes the checks has the form of the operation's schema, and every
// field that an input can have goes out under a name that the schema knows.

import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/client/contract.ts'
import { clientUnderTest } from './client-under-test.ts'
import type { ServiceClient } from './client-under-test.ts'

const wrong = fc.oneof(
  fc.constantFrom('..', 'a/b', ' ', '2026-13-01', 'done', 0, 2 ** 53, Infinity, null, undefined),
  fc.oneof(fc.string(), fc.integer({ min: -2, max: 9 }), fc.double()),
)
/** One of the right values, but for one time in forty: most inputs pass, though they have up to fifteen fields. */
const near = (...right: unknown[]) => fc.oneof({ weight: 39, arbitrary: fc.constantFrom(...right) }, wrong)

const name = near('a.mp4', '__proto__', 'c d.action')
const count = near(1, 7, 4_000_000)
const text = near('p-17', ' p')
const date = near('2026-11-20')
// Of these every value is right: any text passes for an id, and the service has fewer.
const id = fc.constantFrom(7, 'u-7')

type Fields = Readonly<Record<string, fc.Arbitrary<unknown>>>
const list = (entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.array(entry, { minLength: 1, maxLength: 2 })
const record = (needed: Fields, optional: Fields = {}): fc.Arbitrary<object> =>
  fc.record({ ...needed, ...optional }, { noNullPrototype: true, requiredKeys: Object.keys(needed) })

const sessionDate = date
const sessionTypeId = count
const movementTypeId = count
const frameRate = near(29.97)

const inputs = {
  'mocapSessions.create': record({ orgId: text, mocapTypeId: count, sessionDate, sessionTypeId }),
  'mocapSessionFiles.register': record(
    { sessionId: id, filenames: list(name) },
    { frameRate, reprocess: near(true, false) },
  ),
  'playerGroupSegments.create': record({ movementTypeId, domHand: near('RHA', 'LHA') }, { orgMovementIds: list(text) }),
  'requestedAnalyses.create': record(
    { name: text, primaryAnalysisSegmentId: near(4711, '4711', '0007') },
    {
      comparisonAnalysisSegmentId: near('4712'),
      populationAnalysisSegmentId: near('4713'),
      status: near('draft', 'requested'),
    },
  ),
  'videoUploads.create': record({
    files: list(record({ name, sizeBytes: count, partCount: count }, { fileId: count, frameRate })),
    movementTypeId,
    playerId: text,
    sessionDate,
    sessionTypeId,
  }),
  'videoUploads.confirm': record(
    { uploadSessionId: id, sessionFileId: id, parts: list(record({ partNumber: count, etag: text })) },
    { isSuccessful: near(true, false) },
  ),
}

describe.each(Object.entries(inputs))('%s', (operation, input) => {
  const { request } = operations[operation as keyof typeof inputs]

  it('sends what passes its checks in the form of its schema, and under the names of it alone', async () => {
    const names = new Set<string>()
    await fc.assert(
      fc.asyncProperty(input, async (given) => {
        const body = await sentFor(operation, given)
        if (body === undefined) return
        expect(v.safeParse(request, body).issues).toBeUndefined()
        for (const each of namesOf(body)) names.add(each)
      }),
      { numRuns: 300 },
    )
    expect([...names].sort()).toStrictEqual(namesOfSchema(request).sort())
  })
})

it('reads the addresses by the names that it sent, whatever becomes of the list that it was given', async () => {
  const { client, transport } = clientUnderTest()
  const filenames = ['a.action', 'b.action']
  const outcome = client.mocapSessionFiles.register({ sessionId: 7, filenames })
  filenames.length = 0
  const body = { 'a.action': 'https://storage.example/a', 'b.action': 'https://storage.example/b' }
  ;(await transport.next()).reply({ status: 200, body })

  expect([...(await outcome).keys()]).toStrictEqual(['a.action', 'b.action'])
})

/** Undefined when the checks refused it, which is before any call. */
async function sentFor(operation: string, given: object): Promise<unknown> {
  const { client, transport, clock } = clientUnderTest()
  const [room, method] = operation.split('.') as [keyof ServiceClient, string]
  const call = client[room] as unknown as Readonly<Record<string, (input: object) => Promise<unknown>>>
  const outcome = call[method]?.(given).catch((error: unknown) => error)
  await clock.advance(0)
  if (transport.waitingCount > 0) return (await transport.next()).bodyJson()
  expect(await outcome).toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
  return undefined
}

/** The names of a body's fields: `files[].file_id` is one. */
function namesOf(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => namesOf(entry, `${place}[].`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([each, inner]) => [place + each, ...namesOf(inner, place + each)])
}

/** The same of a schema: of objects, lists, and what is optional or piped. */
function namesOfSchema(schema: object, place = ''): string[] {
  if ('wrapped' in schema) return namesOfSchema(schema.wrapped as object, place)
  if ('item' in schema) return namesOfSchema(schema.item as object, `${place}[].`)
  if (!('entries' in schema)) return []
  const entries = Object.entries(schema.entries as Readonly<Record<string, object>>)
  return entries.flatMap(([each, inner]) => [place + each, ...namesOfSchema(inner, place + each)])
}
