// What every route is given: the settings and the parts of the running service.

import type { TokenCheck } from './access/access-tokens.ts'
import type { DiskRoom } from './database/disk-room.ts'
import type { Database } from './database/tables.ts'
import type { ObjectStorage } from './objects/object-storage.ts'
import type { ObjectStore } from './objects/object-store.ts'
import type { Signer } from './objects/signing.ts'
import type { ServiceSettings } from './settings.ts'

export interface ServiceContext {
  readonly settings: ServiceSettings
  readonly db: Database
  readonly store: ObjectStore
  /** Room in the data folder for bodies; undefined where nothing is kept. */
  readonly room: DiskRoom | undefined
  /** The same where it is the place of the records too. What is removed needs none, and makes some. */
  readonly roomForRecords: DiskRoom | undefined
  /** Judges access tokens of an issuer, where there is one. */
  readonly tokenCheck: TokenCheck | undefined
  readonly signer: Signer
  /** Where the objects are when they are not on the disk. */
  readonly bucket: ObjectStorage | undefined
  /** What addresses begin with; known once the service listens. */
  readonly publicUrl: () => string
  /** Whether the service was told to stop. */
  readonly isStopping: () => boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A malformed request is answered by a body that lacks the wanted field instead of by an error status. */
    readonly answersMalformed?: boolean
  }
}

/** The present moment as the database keeps it. */
export function timeOf({ settings }: ServiceContext): Date {
  return new Date(settings.now())
}
