// File names from outside are data: whatever is in one, nothing moves, no header begins, no line of a log breaks, and
// the bytes arrive under exactly that name.

import { describe, expect, it } from 'vitest'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { parseEtag } from '../../src/core/attempt/etag.ts'
import { UploadError } from '../../src/core/errors.ts'
import { CAPTURE, createFarEnd, endOf, goodService, goodStorage, listenTo, VIDEO } from './far-end.ts'

const LEGAL = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '...', '.mp4', ' ', '-rf', '--', '$(id).mp4', '%2e%2e'],
  ...['a\r\nx-api-key: stolen', 'a\nb', 'a\tb', '\u001b[2J\u001b[31m.mp4', '\u0007', '\u202egnp.exe', '\u2066x\u2069'],
  ...[
    'a\u2028b',
    '<script>',
    '"; DROP TABLE',
    "'",
    '{"a":1}',
    '?sig=1&x=2',
    '#',
    'a'.repeat(4_000),
    '\u{1F3C0}',
    'é',
    'ﷺ',
  ],
].filter((name) => name.trim() !== '')
const ILLEGAL = ['', '.', '..', '../a', 'a/b', '/etc/passwd', 'a\\b', 'C:\\a', 'a\0b', '\ud800', ' ', '\n']
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u

const address = (fileIndex: number, partNumber: number): string =>
  `https://store.example/${String(fileIndex)}/${String(partNumber)}?sig=1`

describe('a legal name, whatever is in it', () => {
  it.each(LEGAL)('%j arrives as it is, as a video and as a capture, and is in no header', async (name) => {
    const sent: unknown[] = []
    const service = goodService(address)
    const { uplink, settled, requests } = createFarEnd({
      storage: goodStorage,
      service(request, body) {
        if (body.length > 0) sent.push(JSON.parse(new TextDecoder().decode(body)))
        return service(request, body)
      },
    })
    const files = [{ source: bytesSource(name, new Uint8Array([1, 2, 3])) }]

    const video = await settled(uplink.uploadVideos({ ...VIDEO, files }).done())
    const tracking = [...files, { source: bytesSource('plain.action', new Uint8Array(1)) }]
    const capture = await settled(uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files: tracking }).done())

    expect([video, capture].map(({ status, files: [file] }) => [status, file?.name])).toEqual([
      ['confirmed', name],
      ['confirmed', name],
    ])
    expect(sent).toContainEqual(expect.objectContaining({ files: [expect.objectContaining({ raw_file_name: name })] }))
    expect(sent).toContainEqual(expect.objectContaining({ filenames: [name, 'plain.action'] }))
    for (const { headers, url } of requests) {
      expect(Object.values(headers).join()).not.toContain('stolen')
      expect(url).not.toContain('stolen')
      expect(
        Object.keys(headers).every((header) =>
          ['accept', 'accept-encoding', 'content-type', 'x-api-key'].includes(header),
        ),
      ).toBe(true)
    }
    expect(({} as Record<string, unknown>)['raw_file_name']).toBeUndefined()
  })

  it('is in a message on one line, without what moves a terminal', async () => {
    for (const name of LEGAL) {
      const { uplink, settled } = createFarEnd({
        service: goodService(address),
        storage: () => ({ status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' }),
      })
      const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: bytesSource(name, new Uint8Array(3)) }] })
      listenTo(upload)

      const { error } = await settled(endOf(upload))

      expect(error).toBeInstanceOf(UploadError)
      const { message, code } = error as UploadError
      expect(code).toBe('ERR_UPLOAD_ADDRESS_REFUSED')
      expect(message).not.toMatch(CONTROLS)
      expect(message).toContain('The storage refused part 1')
    }
  })
})

describe('an illegal name', () => {
  it.each(ILLEGAL)('%j is refused before any call, on one line', async (name) => {
    const { uplink, requests } = createFarEnd({ service: goodService(address), storage: goodStorage })
    const files = [{ source: { ...bytesSource('a', new Uint8Array(3)), name } }]

    for (const start of [
      () => uplink.uploadVideos({ ...VIDEO, files }),
      () => uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files }),
    ]) {
      expect(start).toThrow(expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }) as Error)
      expect(start).toThrow(/^files\[0\]\.name is [^\n\0]+: give/)
    }
    expect(requests).toEqual([])
  })
})

describe('an ETag', () => {
  it.each(['"a\r\nx: 1"', '"a\0b"', `"${'a'.repeat(5_000)}"`, '"\u001b[2J"'])('%j is none', (etag) => {
    expect(parseEtag(etag)).toBeUndefined()
  })

  it('goes back to the service as JSON, so that nothing in it can end its field', async () => {
    const etag = `"a',part_number:2}],{\\"`
    const confirms: unknown[] = []
    const service = goodService(address)
    const { uplink, settled } = createFarEnd({
      storage: () => ({ status: 200, headers: { etag } }),
      service(request, body) {
        if (request.method === 'PATCH') confirms.push(JSON.parse(new TextDecoder().decode(body)))
        return service(request, body)
      },
    })

    await settled(uplink.uploadVideos({ ...VIDEO, files: [{ source: bytesSource('a', new Uint8Array(3)) }] }).done())

    expect(confirms).toEqual([expect.objectContaining({ file_part_info: [{ etag, part_number: 1 }] })])
  })
})
