// A file of a command that plans before it uploads. The upload begins with what the plan saw of the file.

import type { Source, SourceIdentity } from '../core/ports.ts'
import { fileSource } from '../adapters/node/files/file-source.ts'
import type { WaitForDrive } from './slow-drive.ts'

/**
 * A file whose size is read once, so that ten thousand files are not looked at twice. If it changes after the plan, that is
 * found when it is opened, as with any other source.
 */
export function plannedSource(path: string, wait: WaitForDrive): Source {
  const source = fileSource(path)
  let look: Promise<SourceIdentity> | undefined
  return { ...source, describe: (signal) => (look ??= wait(`at "${path}"`, source.describe(signal))) }
}
