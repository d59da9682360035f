// The attempts of one session that are under way: each with an open source and an abort of its own, so that a file that
// failed takes down its attempts and no others, and a session that stops takes down all of them.

import { UploadError } from './errors.ts'
import { fileAt, type LedgerFile } from './ledger.ts'
import type { Reader, Unit } from './ports.ts'
import { createReaderCache } from './reader-cache.ts'
import type { Turn } from './schedule.ts'
import { asSourceError, sendPart, type SendPartPorts, type SendPartResult } from './send-part.ts'
import type { TransferJob } from './transfer-job.ts'

export interface Attempts {
  count(): number
  /** Sends a unit once. Rejects only for mistakes of ours. */
  send(turn: Turn): Promise<SendPartResult>
  abortFile(fileIndex: number, reason: unknown): void
  /** Settles when no attempt of the file that runs now does any more. */
  idle(fileIndex: number): Promise<void>
  abortAll(reason: unknown): void
}

/** `onBytes` hears of bytes as they are handed to the network, by how many they grew. */
export function createAttempts(ports: SendPartPorts, job: TransferJob, onBytes: (bytes: number) => void): Attempts {
  const running = new Map<AbortController, { readonly fileIndex: number; readonly ended: Promise<void> }>()
  const readers = createReaderCache((fileIndex) => {
    const { sizeBytes, modifiedAtMs } = fileAt(job.ledger, fileIndex).plan
    const expected = { sizeBytes, ...(modifiedAtMs === undefined ? {} : { modifiedAtMs }) }
    return { source: job.source(fileIndex), expected }
  })
  const sendWith = (
    reader: Reader,
    { unit, isFreshConnection }: Turn,
    signal: AbortSignal,
  ): Promise<SendPartResult> => {
    let sentBefore = 0
    return sendPart(ports, {
      ...{ unit, isFreshConnection, reader, signal, protocol: job.protocol },
      address: addressOf(fileAt(job.ledger, unit.fileIndex), unit),
      onSent(sentBytes) {
        onBytes(sentBytes - sentBefore)
        sentBefore = sentBytes
        job.report({ type: 'sent', unit, sentBytes })
      },
    })
  }
  const open = async (fileIndex: number): Promise<Reader | UploadError> => {
    try {
      return await readers.acquire(fileIndex)
    } catch (error) {
      return asSourceError(error)
    }
  }

  return {
    count: () => running.size,
    async send(turn) {
      const { fileIndex } = turn.unit
      const controller = new AbortController()
      let end = (): void => undefined
      const ended = new Promise<void>((resolve) => (end = resolve))
      running.set(controller, { fileIndex, ended })
      try {
        const reader = await open(fileIndex)
        if (reader instanceof Error) return { kind: 'source', ending: 'neverWhole', error: reader }
        return await sendWith(reader, turn, controller.signal)
      } finally {
        running.delete(controller)
        end()
        await readers.release(fileIndex)
      }
    },
    abortFile(fileIndex, reason) {
      for (const [controller, of] of running) if (of.fileIndex === fileIndex) controller.abort(reason)
    },
    async idle(fileIndex) {
      const ends = [...running.values()].filter((attempt) => attempt.fileIndex === fileIndex)
      await Promise.all(ends.map((attempt) => attempt.ended))
    },
    abortAll(reason) {
      for (const controller of running.keys()) controller.abort(reason)
    },
  }
}

/** The address of a unit, a secret. */
export function addressOf(file: LedgerFile, unit: Unit): string {
  const address = file.addresses[unit.partNumber - 1]
  if (address === undefined) throw new UploadError('ERR_UPLOAD_INTERNAL', 'A part without an address was scheduled.')
  return address
}
