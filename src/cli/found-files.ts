// The files that the paths of a command mean; what was left out is told.

import { filesUnder, type FoundFile } from '../node.ts'
import type { Output } from './output.ts'

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for a folder without files, ERR_UPLOAD_SOURCE_READ for what cannot be read. */
export async function findFiles(paths: readonly string[], output: Output): Promise<readonly FoundFile[]> {
  const { files, skipped } = await filesUnder(paths)
  for (const { path, reason } of skipped) {
    output.event('skipped', { path, reason })
    if (output.mode === 'lines' || output.mode === 'terminal')
      output.complain(`skipped ${path}, because it is ${reason}`)
  }
  return files
}
