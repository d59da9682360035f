import { describe, expect, it } from 'vitest'

import { md5Hasher } from '../../../../src/adapters/node/hash/md5-hasher.ts'
import { hasherContract } from '../../../../src/testing/hasher-contract.ts'

hasherContract('md5Hasher', () => ({ hasher: md5Hasher() }))

describe('md5Hasher', () => {
  it('has read the window when update returns', () => {
    const hash = md5Hasher().start()
    const window = Buffer.from('abc')

    const returned = hash.update(window)
    window.fill(0)

    expect(returned).toBeUndefined()
    expect(hash.digest()).toBe('900150983cd24fb0d6963f7d28e17f72')
  })

  it('refuses bytes after its digest, a second digest, and a digest after it was let go', () => {
    const over = md5Hasher().start()
    void over.digest()
    const dropped = md5Hasher().start()
    dropped.dispose?.()
    const broken = expect.objectContaining({ code: 'ERR_UPLOAD_INTERNAL' }) as Error

    expect(() => over.update(Buffer.from('a'))).toThrow(broken)
    expect(() => over.digest()).toThrow(broken)
    expect(() => dropped.digest()).toThrow(broken)
  })
})
