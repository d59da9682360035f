// The addresses of a bucket: as the AWS SDK and an independent signer would write them, and quick by the ten thousand.

import { S3Client, UploadPartCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { describe, expect, it } from 'vitest'

import { createAddressSigner } from '../../../src/service/s3/s3-addresses.ts'
import { resolveS3 } from '../../../src/service/s3/s3-settings.ts'
import { presign } from '../../helpers/sigv4.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const KEYS = { accessKeyId: 'ACCESSKEY', secretAccessKey: 'secret/of+a=test' }
const KEY = 'videos/5b1c0000-0000-4000-8000-000000000000/17'
const UPLOAD_ID = "2~a+b/c=d'(e)*!"

function signerOf(options: Partial<Parameters<typeof resolveS3>[0]> = {}) {
  const { place, region } = resolveS3({ bucket: 'recordings', region: 'eu-west-1', ...options })
  return createAddressSigner({ place, region, lifeSeconds: 3600, now: () => NOW })
}

describe('an address of the bucket', () => {
  it.each([
    ['of AWS', {}],
    ['of AWS in China', { region: 'cn-north-1' }],
    ['of AWS in its European cloud', { region: 'eusc-de-east-1' }],
    ['of a store with a name of its own', { endpoint: 'http://127.0.0.1:7480' }],
  ])('%s is the one that the SDK would sign', async (_, options) => {
    const client = new S3Client({
      ...{ region: 'eu-west-1', credentials: KEYS, forcePathStyle: 'endpoint' in options },
      ...{ requestChecksumCalculation: 'WHEN_REQUIRED', ...options },
    })
    const command = new UploadPartCommand({ Bucket: 'recordings', Key: KEY, UploadId: UPLOAD_ID, PartNumber: 10_000 })
    const theirs = new URL(await getSignedUrl(client, command, { expiresIn: 3600, signingDate: new Date(NOW) }))
    // The SDK writes the name of its command into the address as well.
    const query = { 'x-id': 'UploadPart', partNumber: '10000', uploadId: UPLOAD_ID }
    const ours = new URL(signerOf(options)(KEYS, 'PUT', KEY, query))

    expect(ours.origin + ours.pathname).toBe(theirs.origin + theirs.pathname)
    expect(Object.fromEntries(ours.searchParams)).toEqual(Object.fromEntries(theirs.searchParams))
  })

  it('is the one that an independent signer writes, for keys that are temporary too', () => {
    const sessionToken = 'temporary+token/of=a test'
    const [endpoint, bucket] = ['http://127.0.0.1:7480', 'recordings']
    const own = { endpoint, bucket, region: 'eu-west-1', accessKey: KEYS.accessKeyId, secretKey: KEYS.secretAccessKey }
    const extra = { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD', 'X-Amz-Security-Token': sessionToken }
    const query = new Map(Object.entries({ ...extra, partNumber: '1', uploadId: UPLOAD_ID }))
    const theirs = presign({ ...own, lifeSeconds: 3600, signedAt: new Date(NOW) }, 'PUT', KEY, query)
    const ours = signerOf({ endpoint })({ ...KEYS, sessionToken }, 'PUT', KEY, { partNumber: '1', uploadId: UPLOAD_ID })

    expect(ours).toBe(theirs)
  })

  it('binds no checksum and no header but the host, so that any body can be sent', () => {
    const { searchParams } = new URL(signerOf()(KEYS, 'PUT', KEY))

    expect([...searchParams.keys()].filter((name) => /checksum/i.test(name))).toEqual([])
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host')
    expect(searchParams.get('X-Amz-Content-Sha256')).toBe('UNSIGNED-PAYLOAD')
  })

  it('follows the day and the keys', () => {
    let now = NOW
    const { place, region } = resolveS3({ bucket: 'recordings' })
    const sign = createAddressSigner({ place, region, lifeSeconds: 60, now: () => now })
    const first = sign(KEYS, 'GET', KEY)
    const other = sign({ ...KEYS, secretAccessKey: 'another' }, 'GET', KEY)
    now += 24 * 3_600_000
    const nextDay = sign(KEYS, 'GET', KEY)
    now = NOW

    expect(new Set([first, other, nextDay]).size).toBe(3)
    expect(sign(KEYS, 'GET', KEY)).toBe(first)
  })
})

describe('what is said of the store', () => {
  it.each([
    [{ bucket: 'No' }, 's3.bucket'],
    [{ bucket: 'recordings', region: 'eu west' }, 's3.region'],
    [{ bucket: 'recordings', endpoint: 'http://user:secret-word@store' }, 's3.endpoint'],
    [{ bucket: 'recordings', endpoint: 'store:9000' }, 's3.endpoint'],
    [{ bucket: 'recordings', endpoint: 'store' }, 's3.endpoint'],
    [{ bucket: 'recordings', endpoint: 'ftp://store' }, 's3.endpoint'],
    [{ bucket: 'recordings', endpoint: 'https://store/?secret-word' }, 's3.endpoint'],
    [{ bucket: 'recordings', endpoint: 'https://store/#secret-word' }, 's3.endpoint'],
    [{ bucket: 'recordings', publicEndpoint: 'https://store/path' }, 's3.publicEndpoint'],
    [{ bucket: 'recordings', endpoint: 'https://10.0.0.1:7480', pathStyle: false }, 's3.pathStyle'],
    [{ bucket: 'recordings', keys: { accessKeyId: 'a', secretAccessKey: 'secret-word with blanks' } }, 's3.keys'],
    [{ bucket: 'recordings', keys: { accessKeyId: '', secretAccessKey: 'secret-word' } }, 's3.keys'],
  ])('is refused with its name and rule, and without secrets: %#', (options, name) => {
    expect(() => resolveS3(options)).toThrow(name)
    expect(() => resolveS3(options)).not.toThrow('secret-word')
  })

  it.each([
    [{}, 'https://recordings.s3.us-east-1.amazonaws.com', '/'],
    [{ pathStyle: true }, 'https://s3.us-east-1.amazonaws.com', '/recordings/'],
    // A host with one dot more would have no certificate.
    [{ bucket: 'recordings.example' }, 'https://s3.us-east-1.amazonaws.com', '/recordings.example/'],
    [{ endpoint: 'https://store:7480' }, 'https://store:7480', '/recordings/'],
    [{ endpoint: 'https://store:7480', pathStyle: false }, 'https://recordings.store:7480', '/'],
  ])('%o puts the bucket at %s%s', (options, origin, pathPrefix) => {
    expect(resolveS3({ bucket: 'recordings', keys: KEYS, ...options }).place).toEqual({ origin, pathPrefix })
  })

  it('leads clients to the public endpoint, and the service to its own', () => {
    const settings = resolveS3({ bucket: 'b-1', endpoint: 'http://store:7480', publicEndpoint: 'https://s3.example' })

    expect(settings.endpoint).toBe('http://store:7480')
    expect(settings.place).toEqual({ origin: 'https://s3.example', pathPrefix: '/b-1/' })
  })
})
