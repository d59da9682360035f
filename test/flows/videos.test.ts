// What a host asks of a video upload, as the service hears it: the session, frame rates, parts and the form of ETags.

import { expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import type { VideosInput } from '../../src/flows/videos.ts'
import { BASE_URL, createFarEnd, goodService, goodStorage, VIDEO } from '../security/far-end.ts'

const MIB = 1_048_576
const NAMES = ['a.mp4', 'b.mp4']
const files = NAMES.map((name) => ({ source: bytesSource(name, new Uint8Array(3)) }))

/** What the service was told, by the methods of its calls. */
async function told(input: Partial<VideosInput>, options: { readonly partSizeBytes?: number } = {}) {
  const bodies: Record<string, unknown[]> = {}
  const good = goodService((index, part) => `https://store.example/${String(index)}/${String(part)}`)
  const { uplink, settled } = createFarEnd({
    ...options,
    storage: goodStorage,
    service(request, body) {
      expect(request.url).toBe(`${BASE_URL}/upload_videos`)
      ;(bodies[request.method] ??= []).push(JSON.parse(new TextDecoder().decode(body)))
      return good(request, body)
    },
  })
  expect(await settled(uplink.uploadVideos({ ...VIDEO, files, ...input }).done())).toMatchObject({
    status: 'confirmed',
  })
  return bodies
}

it('the session is made of what was given', async () => {
  const entry = { file_size_bytes: 3, number_of_chunks: 1 }

  expect((await told({}))['POST']).toEqual([
    {
      ...{ movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 },
      files: NAMES.map((name, index) => ({ raw_file_name: name, file_id: index + 1, ...entry })),
    },
  ])
})

it.each([
  ['of all files', { frameRate: 240 }, [240, 240]],
  [
    'of a file, before that of all',
    { frameRate: 240, files: [{ ...files[0]!, frameRate: 120 }, files[1]!] },
    [120, 240],
  ],
  ['of a file alone', { files: [files[0]!, { ...files[1]!, frameRate: 120 }] }, [undefined, 120]],
])('a frame rate %s is sent', async (_, input, rates) => {
  const [session] = (await told(input))['POST'] as { files: { frame_rate?: number }[] }[]

  expect(session?.files.map(({ frame_rate: rate }) => rate)).toEqual(rates)
})

it.each([
  ['of the upload', { partSizeBytes: 6 * MIB }, {}, 2],
  ['of the upload, before that of the Uplink', { partSizeBytes: 6 * MIB }, { partSizeBytes: 12 * MIB }, 2],
  ['of the Uplink', {}, { partSizeBytes: 5 * MIB }, 3],
])('the part size is that %s', async (_, input, options, parts) => {
  const long = [{ source: bytesSource('a.mp4', new Uint8Array(11 * MIB)) }]
  const { POST } = await told({ ...input, files: long }, options)

  expect(POST).toMatchObject([{ files: [{ number_of_chunks: parts }] }])
})

const ETAG = '9e107d9d372bb6826bd81d3542a419d6-1'
it.each([
  [undefined, `"${ETAG}"`],
  ['asReceived', `"${ETAG}"`],
  ['quoted', `"${ETAG}"`],
  ['bare', ETAG],
] as const)('an ETag goes back to the service in the form that is asked for: %s', async (etagForm, etag) => {
  const { PATCH } = await told({ files: [files[0]!], ...(etagForm && { etagForm }) })

  expect(PATCH).toMatchObject([{ file_part_info: [{ etag, part_number: 1 }] }])
})

it('a form of ETags that there is not is refused before anything is sent', () => {
  const { uplink, requests } = createFarEnd({ storage: goodStorage, service: () => ({ status: 500 }) })
  const input = { ...VIDEO, files, etagForm: 'weak' as 'bare' }

  expect(() => uplink.uploadVideos(input)).toThrow('etagForm must be asReceived, quoted or bare.')
  expect(requests).toEqual([])
})
