// What a source of the host says of itself when it is asked whether it is still the same.

import { expect, it } from 'vitest'
import { changeOf, verifyReader } from '../../../src/core/attempt/source-failure.ts'
import { UploadError } from '../../../src/core/errors.ts'
import type { Reader } from '../../../src/core/ports.ts'

const readerWith = (verify: Reader['verify']): Reader => ({
  read: () => undefined,
  verify,
  close: () => Promise.resolve(),
})
const changed = new UploadError('ERR_UPLOAD_SOURCE_CHANGED', 'It has changed.')
const foreign = { code: 'ERR_UPLOAD_SOURCE_READ', message: 'It could not be read: device gone' }

it('is the same where it says nothing, at once or later', async () => {
  expect(verifyReader(readerWith(() => undefined))).toBeUndefined()
  await expect(verifyReader(readerWith(() => Promise.resolve()))).resolves.toBeUndefined()
  expect(await changeOf(readerWith(() => Promise.resolve()))).toBeUndefined()
})

it.each([
  [
    'at once',
    (error: Error) => {
      throw error
    },
  ],
  ['later', (error: Error) => Promise.reject(error)],
] as const)(
  'is another where it says so %s, by the error that it gives or by one of ours in its place',
  async (_, say) => {
    const look = async (error: Error): Promise<void> => verifyReader(readerWith(() => say(error)))

    await expect(look(changed)).rejects.toBe(changed)
    await expect(look(new Error('device gone'))).rejects.toMatchObject(foreign)
    expect(await changeOf(readerWith(() => say(changed)))).toBe(changed)
    expect(await changeOf(readerWith(() => say(new Error('device gone'))))).toMatchObject(foreign)
  },
)
