// The room that the demo needs on its disk.

import { expect, it } from 'vitest'

import { checkRoom } from '../../../src/cli/demo/room.ts'

const MIB = 1024 ** 2

it('is enough to the byte, or it is said how much there is, how much there must be, and how to choose another place', async () => {
  const needed = 500 * MIB

  await expect(checkRoom('/tmp', needed, () => Promise.resolve(needed))).resolves.toBeUndefined()
  await expect(checkRoom('/tmp', needed, () => Promise.resolve(needed - MIB))).rejects.toMatchObject({
    code: 'ERR_UPLOAD_INVALID_ARGUMENT',
    message:
      'The demo needs 500 MiB, and the disk of "/tmp" has 499 MiB free. ' +
      'Make room there, or name a folder on another disk, with --keep or in TMPDIR.',
  })
})
