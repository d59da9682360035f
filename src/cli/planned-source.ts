// A file of a command that plans before it uploads: what the plan was made of is what the upload begins with.

import type { Source, SourceIdentity } from '../core/ports.ts'
import { fileSource } from '../adapters/node/files/file-source.ts'

/**
 * A file that is looked at once: ten thousand files are not asked for their size twice. One that changes after the plan is
 * found when it is opened, like any other.
 */
export function plannedSource(path: string): Source {
  const source = fileSource(path)
  let look: Promise<SourceIdentity> | undefined
  return { ...source, describe: (signal) => (look ??= source.describe(signal)) }
}
