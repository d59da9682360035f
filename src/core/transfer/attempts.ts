// The attempts of one session that are under way: each with an open source and an abort of its own, so that a file that
// failed takes down its attempts and no others, and a session that stops takes down all of them.

import { invariant, type AttemptEnding } from '../errors.ts'
import { fileAt, partAt, type LedgerFile } from '../journal/ledger.ts'
import type { Reader, Unit } from '../ports.ts'
import { createReaderCache, openPlanned } from '../attempt/reader-cache.ts'
import type { Turn } from './schedule.ts'
import { sendPart, type SendPartPorts, type SendPartResult } from '../attempt/send-part.ts'
import { asSourceError } from '../attempt/source-failure.ts'
import type { Moving, StragglerWatch } from '../line/straggler.ts'
import type { TransferJob } from './transfer-job.ts'
import { unlessAborted } from '../unless-aborted.ts'

export interface Attempts {
  count(): number
  /**
   * Sends a unit once. Rejects only for mistakes of ours. `onAnswered`: what follows, a look at the source and at the answer,
   * needs the line no more and no memory; not called where that is not so.
   */
  send(turn: Turn, onAnswered?: () => void): Promise<SendPartResult | Crawled>
  abortFile(fileIndex: number, reason: unknown): void
  /** Settles when no attempt of the file that runs now does any more. */
  idle(fileIndex: number): Promise<void>
  abortAll(reason: unknown): void
  /**
   * Once a second or so, for the end of a session: resets an attempt that crawls while others flew, if it is not whole yet. It
   * then ends as `crawled`. `isTail`: nothing else is left to send, and slots are idle.
   */
  resetStraggler(nowMs: number, isTail: boolean): void
}

/** The attempt was reset because it crawled while others flew; `doubtful` when its last byte left in that very moment. */
export interface Crawled {
  readonly kind: 'crawled'
  readonly ending: AttemptEnding
}

export interface AttemptPorts extends SendPartPorts {
  /** Finds the attempt that holds the session up; absent: none is reset. */
  readonly watchStragglers?: (<T extends Moving>() => StragglerWatch<T>) | undefined
}

interface Underway {
  readonly unit: Unit
  readonly controller: AbortController
  sentBytes: number
  readonly lengthBytes: number
  readonly isSpared: boolean
  /** The source is open and its bytes go out. */
  isSending: boolean
  /** Who waits for its end. */
  readonly waiters: (() => void)[]
}

/** How often one part may be reset for crawling. */
const MAX_RESETS = 2
const CRAWLED = /* @__PURE__ */ new Error('The connection crawled while others did not.')

/** `onBytes` hears of bytes as they are handed to the network, by how many they grew. */
export function createAttempts(ports: AttemptPorts, job: TransferJob, onBytes: (bytes: number) => void): Attempts {
  const running = new Set<Underway>()
  const { controllers } = ports.transport
  const stragglers = ports.watchStragglers?.<Underway>()
  /** A part that goes again is the same unit. */
  const resets = new Map<Unit, number>()
  const readers = createReaderCache((fileIndex) =>
    openPlanned(job.source(fileIndex), fileAt(job.ledger, fileIndex).plan),
  )
  return {
    count: () => running.size,
    async send({ unit, isFreshConnection }, onAnswered) {
      const { fileIndex } = unit
      const underway: Underway = {
        unit,
        controller: controllers?.take() ?? new AbortController(),
        sentBytes: 0,
        lengthBytes: unit.end - unit.start,
        isSpared: (resets.get(unit) ?? 0) >= MAX_RESETS,
        isSending: false,
        waiters: [],
      }
      const { controller } = underway
      let reader: Reader | undefined
      running.add(underway)
      try {
        try {
          // A file on a mount that is gone may never open, nor say that it does not.
          reader = await unlessAborted(readers.acquire(fileIndex), controller.signal)
        } catch (error) {
          const kind = controller.signal.aborted ? 'aborted' : 'source'
          return { kind, ending: 'neverWhole', error: asSourceError(error) }
        }
        underway.isSending = true
        const file = fileAt(job.ledger, fileIndex)
        // The digest of what is left of a part is not the part's, and no ETag can be compared with it.
        const isWhole = unit.start === partAt(file, unit.partNumber).start
        const result = await sendPart(isWhole ? ports : { ...ports, hasher: undefined }, {
          unit,
          isFreshConnection,
          reader,
          controller,
          onAnswered,
          protocol: job.protocol,
          address: addressOf(file, unit),
          onSent(sentBytes) {
            onBytes(sentBytes - underway.sentBytes)
            underway.sentBytes = sentBytes
            job.report({ type: 'sent', unit, sentBytes })
          },
        })
        underway.isSending = false
        const isCrawled = result.kind === 'aborted' && controller.signal.reason === CRAWLED
        return isCrawled ? { ...result, kind: 'crawled' } : result
      } finally {
        running.delete(underway)
        for (const waiter of underway.waiters) waiter()
        controllers?.giveBack(controller)
        const closed = readers.release(fileIndex)
        if (closed !== undefined && reader !== undefined) await closed
      }
    },
    abortFile(fileIndex, reason) {
      for (const { unit, controller } of running) if (unit.fileIndex === fileIndex) controller.abort(reason)
    },
    async idle(fileIndex) {
      const ofFile = [...running].filter(({ unit }) => unit.fileIndex === fileIndex)
      await Promise.all(ofFile.map((underway) => new Promise<void>((resolve) => underway.waiters.push(resolve))))
    },
    resetStraggler(nowMs, isTail) {
      // Where an abort does not reset the connection, a second attempt could meet the first one.
      if (ports.transport.isResetByAbort !== true) return
      // What was reset may take its time to end, and carries nothing meanwhile.
      const sending = [...running].filter(({ isSending, controller }) => isSending && !controller.signal.aborted)
      const straggler = stragglers?.look(sending, nowMs, isTail)
      if (straggler === undefined) return
      resets.set(straggler.unit, (resets.get(straggler.unit) ?? 0) + 1)
      straggler.controller.abort(CRAWLED)
    },
    abortAll(reason) {
      for (const { controller } of running) controller.abort(reason)
    },
  }
}

/** The address of a unit, a secret. */
export function addressOf(file: LedgerFile, unit: Unit): string {
  const address = file.addresses[unit.partNumber - 1]
  invariant(address !== undefined, 'a part is scheduled with an address')
  return address
}
