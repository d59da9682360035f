// Whether a disk has room for the demo. On a full one it would end in the middle, or wait for minutes for a service that takes nothing.

import { invalid } from '../../core/errors.ts'
import { formatBytes } from '../../core/plan.ts'
import { freeBytes } from '../../service/database/disk-room.ts'

/** Rejects with ERR_UPLOAD_INVALID_ARGUMENT when the disk of `folder` has fewer bytes free than that. */
export async function checkRoom(folder: string, neededBytes: number, freeOn = freeBytes): Promise<void> {
  const free = await freeOn(folder)
  if (free >= neededBytes) return
  invalid(
    `The demo needs ${formatBytes(neededBytes)}, and the disk of "${folder}" has ${formatBytes(free)} free. ` +
      'Make room there, or name a folder on another disk, with --keep or in TMPDIR.',
  )
}
