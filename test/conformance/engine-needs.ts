// The engines that the suite can start, and the packages of Debian that each of them needs.

import { postgresPrograms } from '../helpers/postgres-server.ts'
import { missingCephPackages } from '../long/ceph-gateway.ts'

export const ENGINES = ['pglite-disk', 'postgres-disk', 'postgres-ceph'] as const
export type EngineName = (typeof ENGINES)[number]

/** Debian packages that the engine needs and that are not there. */
export function missingFor(engine: EngineName): readonly string[] {
  if (engine === 'pglite-disk') return []
  const database = postgresPrograms === undefined ? ['postgresql'] : []
  return engine === 'postgres-ceph' ? [...database, ...missingCephPackages()] : database
}
