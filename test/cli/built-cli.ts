// Builds the CLI once for a whole run: each file of tests has a copy of its own, and building it takes a second of a processor.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

import { build } from 'tsup'
import type { Options } from 'tsup'
import type { TestProject } from 'vitest/node'

import config from '../../tsup.config.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the command, built by the project's own configuration. */
    readonly builtCli: string
  }
}

/** Gives the folder to the tests and removes it after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-built-cli-'))
  const options = (config as Options[]).find(({ entry }) => entry !== undefined && 'cli' in entry)
  await build({ ...options, config: false, outDir: folder, silent: true, sourcemap: false, dts: false })
  // The build's own would take some seconds more.
  const database = await readFile(project.getProvidedContext().preparedDatabase)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 }
  await writeFile(join(folder, 'new-database.tar.br'), brotliCompressSync(database, { params }))
  project.provide('builtCli', folder)
  return () => rm(folder, { recursive: true })
}
