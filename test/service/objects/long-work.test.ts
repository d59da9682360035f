// Long work of a storage stops when nobody waits for it: the addresses of a registration of ten thousand names take a second of the one
// thread, in which others are answered, and what a sweep removes may be as much.

import { expect, it, vi } from 'vitest'

import { diskStorage } from '../../../src/service/objects/disk-storage.ts'
import type { ObjectKey } from '../../../src/service/objects/object-keys.ts'
import { s3Storage } from '../../../src/service/s3/s3-storage.ts'

const KEYS = Array.from({ length: 20 }, (_, fileId): ObjectKey => ({ flow: 'captures', sessionId: 'session', fileId }))
const unused = undefined as never

it.each(['disk', 'bucket'])(
  'are signed in slices on the %s, and no more of them when the caller has hung up',
  async (kind) => {
    let nowMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 4))
    const gone = new AbortController()
    let signed = 0
    const sign = (): string => {
      signed += 1
      gone.abort(new Error('gone'))
      return 'address'
    }
    const signer = { sign, verify: unused }
    const storage =
      kind === 'disk'
        ? diskStorage({ db: unused, store: unused, signer, publicUrl: () => '' })
        : s3Storage({ keys: () => Promise.resolve({}) } as never, sign, () => 0)

    await expect(storage.captureAddresses(KEYS, gone.signal)).rejects.toThrow('gone')
    expect(signed).toBeLessThan(KEYS.length)
  },
)

it('removes nothing more from the disk when a stop has come', async () => {
  const file = { key: KEYS[0]!, sizeBytes: 1, partCount: 1, uploadId: null }
  const storage = diskStorage({ db: unused, store: unused, signer: unused, publicUrl: () => '' })

  await expect(storage.release([file], AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
})
