// Requests that have broken a service somewhere: bodies with one thing wrong, and targets that no client makes.

import fc from 'fast-check'

const UUID = '0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10'

const text = fc.oneof(
  fc.constantFrom('', '\0', 'a\0b', '\ud800', '\udfff.mp4', '../x', '.', '2026-02-30', '2026-11-20', '١', '1e9', UUID),
  fc.constantFrom("'; drop table objects; --", '%00', '\u202e', 'x'.repeat(3_000), '\u{1f3c0}'.repeat(600)),
  fc.string({ unit: 'binary' }),
)
const number = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 1e308, -1e308, 5e-324),
  fc.integer(),
)
/** Texts and numbers that have broken a service somewhere, lists, objects, and anything else that JSON can say. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  number,
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { length: 3 }),
  fc.array(fc.oneof(text, number), { maxLength: 5 }),
  fc.jsonValue({ maxDepth: 4 }),
)

export type Spoiling = (body: object) => Uint8Array | string

/** Puts a value in the place of one of the body's fields at any depth, takes one away, adds one, or spoils the bytes. */
export const spoilings: fc.Arbitrary<Spoiling> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fc.nat(), value).map(
      ([place, put]): Spoiling =>
        (body) =>
          replaced(body, place, put),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat().map(
      (place): Spoiling =>
        (body) =>
          replaced(body, place, undefined),
    ),
  },
  {
    weight: 1,
    arbitrary: value.map(
      (put): Spoiling =>
        (body) =>
          JSON.stringify({ ...body, extra: put, ['__proto__']: put }),
    ),
  },
  {
    weight: 1,
    arbitrary: value.map(
      (put): Spoiling =>
        () =>
          JSON.stringify(put),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 6 })).map(([at, bytes]): Spoiling => (body) => {
      const whole = Buffer.from(JSON.stringify(body))
      whole.set(bytes.subarray(0, whole.length), at % Math.max(1, whole.length - bytes.length))
      return whole
    }),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 50 }).map(
      (bytes): Spoiling =>
        () =>
          bytes,
    ),
  },
  // What is right is in the mix, so that the wrong meets a database with something in it.
  { weight: 1, arbitrary: fc.constant<Spoiling>((body) => JSON.stringify(body)) },
)

/** The text of the body with one of all its fields, at any depth, replaced by a value, or left out. */
function replaced(body: object, place: number, put: unknown): string {
  const copy = JSON.parse(JSON.stringify(body)) as Record<string, unknown>
  const places: { holder: Record<string, unknown>; name: string }[] = []
  const look = (holder: Record<string, unknown>): void => {
    for (const [name, inner] of Object.entries(holder)) {
      places.push({ holder, name })
      if (typeof inner === 'object' && inner !== null) look(inner as Record<string, unknown>)
    }
  }
  look(copy)
  const chosen = places[place % Math.max(1, places.length)]
  if (chosen !== undefined) chosen.holder[chosen.name] = put
  return JSON.stringify(copy)
}

/** Ids that are none, or nearly. */
export const ODD_IDS = [
  ...['0', '1', '-1', '2147483647', '2147483648', '9999999999', '99999999999999999999', '1e3', '%00', '%ff', 'submit'],
  ...['%e2%80%ae', '..%2f..', UUID, `${UUID.slice(1)}%00`, 'x'.repeat(201), '%zz', '%'],
]
const id = fc.constantFrom(...ODD_IDS)
const queried = fc.oneof(
  fc.constantFrom('', '0', '-1', '1', '1e3', '1000', '10001', '%00', '%ff', 'capture-1', 'video-x'),
  fc.base64String(),
)
const cursor = fc
  .array(fc.oneof(value, number), { maxLength: 3 })
  .map((values) => Buffer.from(JSON.stringify(values)).toString('base64url'))
export const targets = fc.oneof(
  fc
    .tuple(fc.constantFrom('/player_group_segments/', '/requested_analyses/', '/upload_videos/'), id)
    .map((two) => two.join('')),
  id.map((one) => `/requested_analyses/${one}/submit`),
  fc
    .tuple(fc.constantFrom('/stored', '/sessions', '/requested_analyses'), queried, fc.oneof(queried, cursor))
    .map(([path, limit, after]) => `${path}?limit=${limit}&after=${after}&limit=${limit}`),
  fc
    .tuple(fc.constantFrom('/stored', '/sessions', '/requested_analyses'), cursor)
    .map(([path, after]) => `${path}?after=${after}`),
  fc.tuple(id, id).map(([one, two]) => `/objects/videos/${one}/${two}?partNumber=${two}&X-Amz-Signature=${one}`),
  fc.constantFrom('/', '//', '/%00', '/upload_videos', '/mocap_session', '/healthz?x', '/objects/', '/__proto__'),
)
