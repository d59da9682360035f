// What every route receives: the settings and the parts of the running service.

import type { TokenCheck } from './access/access-tokens.ts'
import type { DiskRoom } from './database/disk-room.ts'
import type { Database } from './database/tables.ts'
import type { AnswerMemory } from './http/answer-memory.ts'
import type { ObjectStorage } from './objects/object-storage.ts'
import type { ObjectStore } from './objects/object-store.ts'
import type { Signer } from './objects/signing.ts'
import type { ServiceSettings } from './settings.ts'

export interface ServiceContext {
  readonly settings: ServiceSettings
  readonly db: Database
  readonly store: ObjectStore
  /** Guards the disk space for bodies in the data folder; undefined where nothing is kept. */
  readonly room: DiskRoom | undefined
  /** The same guard where the records are in that folder too. Deletions do not ask it, because they free space. */
  readonly roomForRecords: DiskRoom | undefined
  /** Checks an issuer's access tokens; undefined without an issuer. */
  readonly tokenCheck: TokenCheck | undefined
  readonly signer: Signer
  /** Bounds what callers do not take in time. */
  readonly answers: AnswerMemory
  /** Holds the objects when they are not on disk. */
  readonly bucket: ObjectStorage | undefined
  /** What addresses begin with. Known once the service listens. */
  readonly publicUrl: () => string
  /** Whether the service was told to stop. */
  readonly isStopping: () => boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers a malformed request with a body that lacks the wanted field, not with an error status. */
    readonly answersMalformed?: boolean
  }
}

/** The current time as the database stores it. */
export function timeOf({ settings }: ServiceContext): Date {
  return new Date(settings.now())
}
