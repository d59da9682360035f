// The bridge from one session to the engine: registers files as their turn comes, confirms the complete ones, and renews addresses
// where the protocol can. It decides what a refusal by the service means for the files.

import { isGone, isRefusal } from '../client/status.ts'
import type { AddressRules } from '../core/address/address-policy.ts'
import { detailsOf, isUploadError, known, summarize } from '../core/errors.ts'
import { given } from '../core/given.ts'
import { named } from '../core/transfer/file-failure.ts'
import type { LedgerFile } from '../core/journal/ledger.ts'
import type { AddressedFile, Clock, Hasher, OnWaiting, Protocol } from '../core/ports.ts'
import { sleep } from '../core/time/sleep.ts'
import type { TransferEvent, TransferJob } from '../core/transfer/transfer-job.ts'
import { checkAddressed, placeOf, type PlaceOwners } from './check-addressed.ts'
import { endLeftSessions } from './end-sessions.ts'
import { callProtocol } from './protocol-call.ts'
import type { SourceProof } from './prove-sources.ts'
import { createRenewal, type RenewAddresses, type SessionReplaced } from './renewal.ts'
import type { SessionRecord } from './session-record.ts'

export interface SessionJobOptions extends AddressRules {
  readonly record: SessionRecord
  readonly protocol: Protocol
  readonly source: TransferJob['source']
  readonly report: (event: TransferEvent) => void
  readonly clock: Clock
  /** A host's own way to sign again; see RenewAddresses. */
  readonly renewAddresses?: RenewAddresses | undefined
  /** See SourceProof. */
  readonly readAgain?: SourceProof['readAgain'] | undefined
  /** Present where all of each file is read again. */
  readonly contentHasher?: Hasher | undefined
  /** The rate measured while bytes moved steadily; 0 while unknown. */
  readonly bytesPerSecond: () => number
  readonly onReplaced: (event: SessionReplaced, hasPossibleOrphan: boolean) => void
}

/**
 * How often a confirmation may be refused while parts are doubtful, before the refusal is believed. One that says that the service does
 * not know the file is believed the second time: it may be another service, or restored from a backup, and would never take it.
 */
const MAX_CONFIRM_REFUSALS = 6
const CONFIRM_WAIT_MS = 1_000
/** How many files may be finished at once when that takes only a record: they share the cost of writing it. */
const RECORDS_AT_ONCE = 64

export function createSessionJob(options: SessionJobOptions): TransferJob {
  const { record, protocol, source, report, clock } = options
  const ledger = record.ledger()
  /** Names that are refused may be somebody else's. In a session of our own they are ours: a line may deliver a call twice. */
  const hasOthers = record.folded()?.params['sessionId'] !== undefined
  const confirmRefusals = new Map<number, number>()
  const ownerOf: PlaceOwners = new Map()
  for (const { addresses, plan } of ledger.files)
    if (addresses[0] !== undefined) ownerOf.set(placeOf(protocol, plan, addresses[0]), plan.fileIndex)
  let registering: Promise<unknown> = Promise.resolve()
  /** Every file before this index has been asked for, so that a batch need not scan ten thousand files. */
  let firstPlanned = 0

  /** Registers strictly one batch after another: the order of registration is the order of capture. */
  const register = (files: readonly LedgerFile[], isRepeat: boolean, signal: AbortSignal): Promise<void> => {
    const turn = registering.then(() => registerNow(files, isRepeat, signal))
    registering = turn.catch(() => undefined)
    return turn
  }
  const registerNow = async (files: readonly LedgerFile[], isRepeat: boolean, signal: AbortSignal): Promise<void> => {
    const fileIndexes = files.map((file) => file.plan.fileIndex)
    const type = 'files.registering'
    await record.write({ type, fileIndexes })
    const plans = files.map((file) => file.plan)
    const ask = async (onWaiting: OnWaiting) =>
      protocol.register?.(files[0]?.sessionId ?? record.sessionId(), plans, { isRepeat, signal, onWaiting })
    let addressed: readonly AddressedFile[] = []
    try {
      addressed = (await callProtocol(options, signal, ask)) ?? []
    } catch (error) {
      if (hasOthers && !isRepeat && (wasInVain(error) || isForeign(error)))
        await record.write({ type, fileIndexes, isRefused: true })
      throw error
    }
    checkAddressed(plans, addressed, protocol, options, ownerOf)
    await record.write({ type: 'files.registered', files: addressed })
  }
  const failFile = async (file: LedgerFile, error: unknown): Promise<void> => {
    await record.write({ type: 'file.failed', fileIndex: file.plan.fileIndex, error: summarize(named(file, error)) })
  }
  /** A refusal of many names says nothing about each one. They are asked for one by one, so that only the culprits fail. */
  const registerOrFail = async (
    files: readonly LedgerFile[],
    isRepeat: boolean,
    signal: AbortSignal,
  ): Promise<void> => {
    try {
      await register(files, isRepeat, signal)
    } catch (error) {
      if (!isFileRefusal(error)) throw error
      const [first, ...others] = files
      if (first && others.length === 0) await failFile(first, error)
      else {
        // After a 2xx that lacks some names, the service may still know all of them.
        const isKnown = isReply(error) && !(hasOthers && isForeign(error))
        for (const file of files) await registerOrFail([file], isRepeat || isKnown, signal)
      }
    }
  }

  const confirmed = ({ plan: { fileIndex } }: LedgerFile, sha256?: string): Promise<undefined> | undefined =>
    record.write({ type: 'file.confirmed', fileIndex, ...given({ sha256 }) })?.then(() => undefined)
  const confirm = async (
    file: LedgerFile,
    reading: Promise<string | undefined> | undefined,
    signal: AbortSignal,
  ): Promise<readonly number[] | undefined> => {
    const { fileIndex } = file.plan
    const { mayBeConfirmed } = file
    // A yes of an earlier run may have been lost: then the file is there, and must not be sent twice.
    const isSweepable = file.addressesWere !== undefined && !mayBeConfirmed
    const sha256 = await reading
    if (protocol.confirm) {
      await record.write({ type: 'file.confirming', fileIndex })
      report({ type: 'fileState', file })
      try {
        // Some services refuse a second confirmation, so the answer to one under way is waited for.
        const ask = async (onWaiting: OnWaiting, lasting: AbortSignal) =>
          protocol.confirm?.(
            file.sessionId ?? record.sessionId(),
            file.serverFileId ?? fileIndex,
            receiptsOf(file),
            lasting,
            onWaiting,
          )
        await callProtocol(options, signal, ask)
      } catch (error) {
        // The service said no, or nobody can have heard of it. Otherwise a discard would keep the session for the sake of a file that
        // nobody can have confirmed.
        if (!mayBeConfirmed && wasInVain(error))
          await record.write({ type: 'parts.voided', fileIndex, partNumbers: [] })
        const refusals = (confirmRefusals.get(fileIndex) ?? 0) + 1
        const doubtful = doubtfulParts(file, isSweepable && refusals === 1)
        const isDoubtful = isUploadError(error) && error.code === 'ERR_UPLOAD_CONFIRM_REFUSED' && doubtful.length > 0
        if (!isDoubtful || refusals > MAX_CONFIRM_REFUSALS || (refusals > 1 && isGone(error.cause))) throw error
        confirmRefusals.set(fileIndex, refusals)
        // A doubtful attempt may have arrived late and replaced a part after its receipt. Exactly the doubtful parts are sent
        // again. From the second refusal on, attempts that may still be under way get time to arrive first.
        if (refusals > 1) await sleep(clock, CONFIRM_WAIT_MS * 2 ** (refusals - 2), signal)
        await record.write({ type: 'parts.voided', fileIndex, partNumbers: doubtful })
        return doubtful
      }
    }
    return confirmed(file, sha256)
  }

  return {
    ledger,
    protocol,
    source,
    record: record.write,
    report,
    ...(protocol.confirm || options.contentHasher ? {} : { finishesAtOnce: RECORDS_AT_ONCE }),
    async replenish(signal) {
      const batch: LedgerFile[] = []
      // Names that an earlier run asked for go in a batch of their own, because only they may be overwritten. What this one asked
      // for is no longer planned.
      let isRepeat = false
      while (firstPlanned < ledger.files.length && ledger.files[firstPlanned]?.state !== 'planned') firstPlanned += 1
      for (let at = firstPlanned; at < ledger.files.length && batch.length < protocol.traits.batchSize; at += 1) {
        const file = ledger.files[at]
        if (file?.state !== 'planned') continue
        if (batch.length > 0 && file.isRegistering !== isRepeat) break
        isRepeat = file.isRegistering
        batch.push(file)
      }
      if (batch.length > 0) await registerOrFail(batch, isRepeat, signal)
    },
    finish(file, signal, onHang) {
      const reading = options.readAgain?.(file, signal, onHang)
      return reading || protocol.confirm ? confirm(file, reading, signal) : confirmed(file)
    },
    renew: createRenewal({ register: (file, signal) => register([file], true, signal), ...options }),
    // Whether the service is told now or later makes no difference to the files, because the sessions ended here are empty.
    async moved() {
      await endLeftSessions(options)
    },
  }
}

/** Whether a call has changed nothing: the service said no, or nobody can have heard of it. */
function wasInVain(error: unknown): boolean {
  return detailsOf(error)['isDoubtful'] === false
}

function receiptsOf(file: LedgerFile) {
  return file.parts.map(({ partNumber, receipt }) => ({ partNumber, receipt: known(receipt) }))
}

/** `areAll`: the storage need not hold any more what it acknowledged in an earlier run. */
function doubtfulParts({ parts }: LedgerFile, areAll: boolean): number[] {
  return parts.filter((part) => areAll || part.isDoubtful).map((part) => part.partNumber)
}

/** The service refused the names or answered without them. Errors of ours and missing answers do not count. */
function isFileRefusal(error: unknown): boolean {
  return isReply(error) || isRefusal(error)
}

function isReply(error: unknown): boolean {
  return isUploadError(error) && error.code === 'ERR_UPLOAD_SERVICE_REPLY'
}

/** Somebody else has answered, such as the sign-in page of a network: the service has heard nothing. */
function isForeign(error: unknown): boolean {
  const { isBaseUrlDoubtful, isDoubtful } = detailsOf(error)
  return isReply(error) && isBaseUrlDoubtful === true && isDoubtful !== true
}
