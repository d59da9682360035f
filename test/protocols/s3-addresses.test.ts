// The addresses of parts, and the list of those that a store has.

import { describe, expect, it } from 'vitest'
import { listParts } from '../../src/protocols/s3-parts.ts'
import { NEVER, plan, startS3Rig } from './s3-rig.ts'

describe('addresses of parts', () => {
  it('are judged by the address policy before any part is sent', async () => {
    const { s3, protocol } = await startS3Rig(
      {},
      {
        sign: (request) =>
          Promise.resolve(
            request.operation === 'part' ? { url: 'https://10.0.0.7/a?X-Amz-Signature=s' } : s3.sign(request),
          ),
        addressPolicy: (host) => host === '127.0.0.1' || host === 'localhost',
      },
    )
    const { sessionId } = await protocol.create([plan(0, 'a')], NEVER)

    const registering = protocol.register!(sessionId, [plan(0, 'a')], { isRepeat: false, signal: NEVER })

    await expect(registering).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL', details: { host: '10.0.0.7' } })
  })

  it('refuses a signature that asks for headers, or comes twice', async () => {
    const { s3, protocol } = await startS3Rig(
      {},
      {
        sign: (request) =>
          Promise.resolve(
            request.operation !== 'part'
              ? s3.sign(request)
              : request.key === 'a'
                ? { url: 'https://s3.example.com/a', headers: { 'x-amz-acl': 'private' } }
                : { url: 'https://s3.example.com/b' },
          ),
      },
    )
    const { sessionId } = await protocol.create([plan(0, 'a', 2), plan(1, 'b', 2)], NEVER)
    const register = (file: number, name: string) =>
      protocol.register!(sessionId, [plan(file, name, 2)], { isRepeat: false, signal: NEVER })

    await expect(register(0, 'a')).rejects.toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
    await expect(register(1, 'b')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message: 'The host signed the same address for two parts of b.',
    })
  })
})

describe('the list of parts', () => {
  it('comes from all pages, in order, and is enough to go on from', async () => {
    const { s3, options, protocol } = await startS3Rig({ pageSize: 2 })
    const { sessionId } = await protocol.create([plan(0, 'a', 5)], NEVER)
    const uploadId = [...s3.uploads.keys()][0]!
    const etags = [4, 1, 5, 2].map((partNumber) => s3.arriveLate(uploadId, partNumber, Buffer.alloc(partNumber, 7)))

    const parts = await listParts(options, { key: 'a', uploadId }, NEVER)

    expect(parts).toEqual([
      { partNumber: 1, sizeBytes: 1, etag: etags[1] },
      { partNumber: 2, sizeBytes: 2, etag: etags[3] },
      { partNumber: 4, sizeBytes: 4, etag: etags[0] },
      { partNumber: 5, sizeBytes: 5, etag: etags[2] },
    ])
    expect(s3.requestsOf('list').map((request) => request.partNumberMarker)).toEqual([undefined, 2])
    expect(sessionId).toContain(uploadId)
  })

  it('is undefined for an upload that the store does not know', async () => {
    const { options } = await startS3Rig()

    expect(await listParts(options, { key: 'a', uploadId: 'nobody' }, NEVER)).toBe(undefined)
  })

  it.each([
    ['NoSuchKey', undefined],
    ['NoSuchBucket', 'ERR_UPLOAD_HTTP_STATUS'],
  ])('takes %s for what it is', async (code, expected) => {
    const answer = { status: 404, body: `<Error><Code>${code}</Code></Error>` }
    const { options } = await startS3Rig({ faults: [{ operation: 'list', nth: 'every', answer }] })

    const outcome = await listParts(options, { key: 'a', uploadId: 'u' }, NEVER).catch((error: unknown) => error)

    expect((outcome as { code?: string } | undefined)?.code).toBe(expected)
  })

  it('is in order also where the store lists the last part that there can be before others', async () => {
    const part = (number: number) => `<Part><PartNumber>${number}</PartNumber><ETag>"a"</ETag><Size>1</Size></Part>`
    const body = `<ListPartsResult>${part(10_000)}${part(2)}${part(1)}</ListPartsResult>`
    const { options } = await startS3Rig({ faults: [{ operation: 'list', nth: 1, answer: { status: 200, body } }] })

    const parts = await listParts(options, { key: 'a', uploadId: 'u' }, NEVER)

    expect(parts?.map(({ partNumber }) => partNumber)).toEqual([1, 2, 10_000])
  })

  it('is not taken from a document of another kind', async () => {
    const answer = { status: 200, body: '<ListBucketResult></ListBucketResult>' }
    const { options } = await startS3Rig({ faults: [{ operation: 'list', nth: 'every', answer }] })

    await expect(listParts(options, { key: 'a', uploadId: 'u' }, NEVER)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
    })
  })

  it.each([
    ['a page that does not go on', '<IsTruncated>true</IsTruncated><NextPartNumberMarker>0</NextPartNumberMarker>'],
    [
      'a marker that stays where it is',
      '<IsTruncated>true</IsTruncated><NextPartNumberMarker>5</NextPartNumberMarker>',
    ],
    ['a truncated page without a marker', '<IsTruncated>true</IsTruncated>'],
    ['a part without a number', '<Part><ETag>"a"</ETag><Size>1</Size></Part>'],
    ['a part of no size', '<Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>all</Size></Part>'],
    ['a part of half a size', '<Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>1.5</Size></Part>'],
    ['a part of less than no size', '<Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>-1</Size></Part>'],
    ['a part that does not end', '<Part><PartNumber>1</PartNumber><ETag>"a"</ETag><Size>1</Size>'],
    ['a part number out of range', '<Part><PartNumber>10001</PartNumber><ETag>"a"</ETag><Size>1</Size></Part>'],
    ['a part number below one', '<Part><PartNumber>0</PartNumber><ETag>"a"</ETag><Size>1</Size></Part>'],
    ['half a part number', '<Part><PartNumber>1.5</PartNumber><ETag>"a"</ETag><Size>1</Size></Part>'],
    ['a part without an ETag', '<Part><PartNumber>1</PartNumber><ETag></ETag><Size>1</Size></Part>'],
  ])('is refused with %s', async (_name, inside) => {
    const body = `<ListPartsResult>${inside}</ListPartsResult>`
    const { options } = await startS3Rig({
      faults: [{ operation: 'list', nth: 'every', answer: { status: 200, body } }],
    })

    await expect(listParts(options, { key: 'a', uploadId: 'u' }, NEVER)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
    })
  })
})
