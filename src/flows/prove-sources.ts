// Reads the sources of a session again: before a file that an earlier run has begun goes on, to prove that it is still what was
// sent, and before a confirmation, for the digest of the whole file. Each file is proven as its turn comes, so that others are sent
// meanwhile: reading what was sent takes minutes for large files. As for any source that is slow to open, one part of each file waits
// for it. Files that are complete wait among those that are being confirmed.

import { isUploadError, known, withDetails } from '../core/errors.ts'
import { isSettled, type LedgerFile } from '../core/journal/ledger.ts'
import type { Source } from '../core/ports.ts'
import { tellHang } from '../core/time/tell-hang.ts'
import { giveTime, unlessLate } from '../core/time/unless-late.ts'
import type { SessionRecord } from './session-record.ts'
import type { FlowContext, UploadDefinition } from './upload-definition.ts'
import { digestWhole, verifySource, type Watch } from './verify-source.ts'

export interface SourceProof {
  /** A source that opens only if it is still what an earlier run has sent of it. Rejects as `verifySource` does. */
  source(fileIndex: number): Pick<Source, 'open'>
  /**
   * Reads what must be read again of a file whose parts are all stored; resolves with its SHA-256 where that was asked for.
   * Undefined: nothing. Rejects as `verifySource` does. `onHang`: see TransferJob.finish.
   */
  readAgain(
    file: LedgerFile,
    signal: AbortSignal,
    onHang: (isHung: boolean) => void,
  ): Promise<string | undefined> | undefined
  /** Ends the proofs that are under way, of files whose transfer is over. Resolves when they have ended, or after 15 s. Never rejects. */
  end(): Promise<unknown>
}

/** `record`: as the run begins. What an earlier run has sent is proven once in this one. */
export function createSourceProof(
  context: FlowContext,
  definition: UploadDefinition,
  record: Pick<SessionRecord, 'ledger'>,
): SourceProof {
  const { clock, contentHasher, hasher, random, provesAll } = context
  const begun = record.ledger().files.filter((file) => !isSettled(file) && file.receivedCount > 0)
  const unproven = new Map(hasher && begun.map((file) => [file.plan.fileIndex, file]))
  const sourceOf = (fileIndex: number): Source => known(definition.files[fileIndex]).source

  const proofs: Promise<void>[] = []
  let proving = new AbortController()

  const prove = async (file: LedgerFile, signal: AbortSignal, watch?: Watch): Promise<void> => {
    const { fileIndex } = file.plan
    await verifySource(file, sourceOf(fileIndex), { hasher: known(hasher), random, provesAll, signal, watch })
    unproven.delete(fileIndex)
  }
  const proveSent = async (file: LedgerFile, signal: AbortSignal, watch: Watch): Promise<undefined> => {
    try {
      await prove(file, signal, watch)
    } catch (error) {
      // Only the confirmation is missing, which needs nothing of the file: all was sent while it could be read.
      if (signal.aborted || !isUploadError(error) || error.code !== 'ERR_UPLOAD_SOURCE_READ') throw error
    }
  }

  return {
    source(fileIndex) {
      const source = sourceOf(fileIndex)
      const file = unproven.get(fileIndex)
      if (!file) return source
      return {
        async open(expected) {
          const proof = prove(file, proving.signal)
          proofs.push(proof)
          // A foreign error is the hasher's, and not to be taken for one of the source.
          await proof.catch((error: unknown) => Promise.reject(withDetails(error, {})))
          return source.open(expected)
        },
      }
    },
    readAgain(file, signal, onHang) {
      const { fileIndex } = file.plan
      const watch: Watch = (step) => tellHang(clock, step, onHang)
      const reading = contentHasher
        ? digestWhole(file, sourceOf(fileIndex), { contentHasher, hasher, signal, watch })
        : unproven.has(fileIndex) && proveSent(file, signal, watch)
      // Reading may never end where the drive is gone.
      return reading ? unlessLate(clock, signal, reading, () => Promise.reject(signal.reason as Error)) : undefined
    },
    end() {
      proving.abort()
      proving = new AbortController()
      return giveTime(clock, Promise.allSettled(proofs))
    },
  }
}
