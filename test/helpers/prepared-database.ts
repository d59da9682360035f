// Prepares the service's empty database once for a whole run, because that takes seconds and every test file needs one.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { TestProject } from 'vitest/node'

import { prepareDatabase } from '../../src/service/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the archive that `startService` takes as `preparedDatabase`. */
    readonly preparedDatabase: string
  }
}

const KEY = Symbol.for('mocap-uplink: the database of this run')
/** Each project of a run loads this module for itself, and its setup comes after that of the one before. */
const shared = globalThis as { [KEY]?: ReturnType<typeof prepareDatabase> | undefined }

/** Provides the archive's path to the tests, and removes the archive after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-prepared-'))
  const path = join(folder, 'database.tar')
  const archive = await (shared[KEY] ??= prepareDatabase())
  await writeFile(path, new Uint8Array(await archive.arrayBuffer()))
  project.provide('preparedDatabase', path)
  return () => rm(folder, { recursive: true })
}
