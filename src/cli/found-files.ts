// The files that the paths of a command mean; what was left out is told.

import { resolve } from 'node:path'

import { filesUnder, type FoundFile } from '../node.ts'
import type { Output } from './views/output.ts'

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for a folder without files, ERR_UPLOAD_SOURCE_READ for what cannot be read. */
export async function findFiles(paths: readonly string[], output: Output): Promise<readonly FoundFile[]> {
  const { files, skipped } = await filesUnder(paths)
  for (const { path, reason } of skipped) tellSkipped(output, path, reason)
  return onceEach(files, output)
}

/** A path that is given twice, or lies in a folder that is given too, is meant once. */
function onceEach(files: readonly FoundFile[], output: Output): readonly FoundFile[] {
  const known = new Set<string>()
  return files.filter(({ path }) => {
    const place = resolve(path)
    const isNew = !known.has(place)
    known.add(place)
    if (!isNew) tellSkipped(output, path, 'given twice')
    return isNew
  })
}

function tellSkipped(output: Output, path: string, reason: string): void {
  output.event('skipped', { path, reason })
  if (output.mode === 'lines' || output.mode === 'terminal') output.complain(`skipped ${path}, because it is ${reason}`)
}
