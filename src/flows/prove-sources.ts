// Reads the sources of a session again: before the first transfer of a run, to prove that they are what an earlier run sent, and
// before a confirmation, for the digest of the whole file.

import { isUploadError, known, summarize } from '../core/errors.ts'
import { isSettled, type LedgerFile } from '../core/journal/ledger.ts'
import type { Source } from '../core/ports.ts'
import { unlessLate } from '../core/time/unless-late.ts'
import type { SessionRecord } from './session-record.ts'
import type { Telling } from './telling.ts'
import type { FlowPorts, UploadDefinition } from './upload-definition.ts'
import { digestWhole, verifySource } from './verify-source.ts'

/** Files whose source has changed since the earlier run fail here, each alone, before a byte is sent. */
export async function proveSources(
  ports: FlowPorts,
  definition: UploadDefinition,
  record: SessionRecord,
  telling: Telling,
  signal: AbortSignal,
): Promise<void> {
  const { hasher, random } = ports
  for (const file of record.ledger().files) {
    if (!hasher || isSettled(file) || file.receivedCount === 0) continue
    const { fileIndex } = file.plan
    try {
      const { verifyDepth: depth } = definition
      const reading = verifySource(file, sourceOf(definition, fileIndex), { hasher, random, depth, signal })
      await unlessHung(ports, signal, reading)
    } catch (error) {
      if (signal.aborted || !isUploadError(error)) throw error
      // Only the confirmation of this file is missing, which needs nothing of it: all was sent while it could be read.
      if (file.state !== 'ready' && error.code === 'ERR_UPLOAD_SOURCE_READ') continue
      await record.write({ type: 'file.failed', fileIndex, error: summarize(error) })
      telling.take({ type: 'fileState', file })
    }
  }
}

/** Reads a whole file again for its SHA-256. Undefined where no digest was asked for. */
export function wholeDigestOf(ports: FlowPorts, definition: UploadDefinition) {
  const { contentHasher, hasher: partHasher } = ports
  if (!contentHasher) return undefined
  return (file: LedgerFile, signal: AbortSignal) => {
    const source = sourceOf(definition, file.plan.fileIndex)
    return unlessHung(ports, signal, digestWhole(file, source, { contentHasher, partHasher, signal }))
  }
}

export function sourceOf({ files }: UploadDefinition, fileIndex: number): Source {
  return known(files[fileIndex]).source
}

/** Reading a source again may never end where its drive is gone. */
function unlessHung<T>({ clock }: FlowPorts, signal: AbortSignal, reading: Promise<T>): Promise<T> {
  return unlessLate(clock, signal, reading, () => Promise.reject(signal.reason as Error))
}
