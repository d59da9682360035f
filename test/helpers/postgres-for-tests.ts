// One PostgreSQL server for all test files of a run, and a notice that nobody can miss if there is none to start.

import type { TestProject } from 'vitest/node'

import { postgresPrograms, startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a server on which tests create their own databases; undefined if PostgreSQL is not installed. */
    readonly postgres: string | undefined
  }
}

/** Starts the server, and ends it after the last test. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (postgresPrograms === undefined) {
    project.provide('postgres', undefined)
    process.stdout.write(
      `\n${'!'.repeat(96)}\n  NOT TESTED: the service on PostgreSQL. There is no PostgreSQL on this machine.\n` +
        `  Install the package postgresql (apt-get install postgresql).\n${'!'.repeat(96)}\n\n`,
    )
    return undefined
  }
  const server = await startPostgres()
  project.provide('postgres', server.url)
  return server.stop
}
