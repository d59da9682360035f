// How the files of one session get their addresses where these do not come with the session: their names are registered in
// batches as their turn comes. It decides what a refusal by the service means for the files.

import { isRefusal } from '../client/status.ts'
import { detailsOf, isUploadError, known, summarize, wasInVain } from '../core/errors.ts'
import type { LedgerFile } from '../core/journal/ledger.ts'
import type { AddressedFile, OnWaiting } from '../core/ports.ts'
import { named } from '../core/transfer/file-failure.ts'
import { checkAddressed, placeOf, type PlaceOwners } from './check-addressed.ts'
import type { DrivenSession } from './driven-session.ts'
import { callProtocol } from './protocol-call.ts'

export interface Registration {
  /** Registers the next files, or fails them; see TransferJob.replenish. */
  next(signal: AbortSignal): Promise<void>
  /** Registers a file once more. Rejects with the service's reason where it is refused. */
  again(file: LedgerFile, signal: AbortSignal): Promise<void>
}

export function createRegistration(session: DrivenSession): Registration {
  const { record, protocol } = session
  const { files: all } = record.ledger()
  /** Names that are refused may be somebody else's. In a session of our own they are ours: a line may deliver a call twice. */
  const hasOthers = record.folded()?.params['sessionId'] !== undefined
  const ownerOf: PlaceOwners = new Map()
  for (const { addresses, plan } of all)
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
    const ask = async (onWaiting: OnWaiting, _lasting: AbortSignal, onUnheard: () => void) =>
      protocol.register?.(record.sessionOf(known(files[0])), plans, { isRepeat, signal, onWaiting, onUnheard })
    let addressed: readonly AddressedFile[] = []
    try {
      addressed = (await callProtocol(session, signal, ask)) ?? []
    } catch (error) {
      if (hasOthers && !isRepeat && (wasInVain(error) || isForeign(error)))
        await record.write({ type, fileIndexes, isRefused: true })
      throw error
    }
    checkAddressed(plans, addressed, protocol, session, ownerOf)
    await record.write({ type: 'files.registered', files: addressed })
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
      if (first && others.length === 0) {
        const { fileIndex } = first.plan
        await record.write({ type: 'file.failed', fileIndex, error: summarize(named(first, error)) })
      } else {
        // After a 2xx that lacks some names, the service may still know all of them.
        const isKnown = isReply(error) && !(hasOthers && isForeign(error))
        for (const file of files) await registerOrFail([file], isRepeat || isKnown, signal)
      }
    }
  }

  return {
    async next(signal) {
      const batch: LedgerFile[] = []
      // Names that an earlier run asked for go in a batch of their own, because only they may be overwritten. What this one asked
      // for is no longer planned.
      let isRepeat = false
      while (firstPlanned < all.length && all[firstPlanned]?.state !== 'planned') firstPlanned += 1
      for (let at = firstPlanned; at < all.length && batch.length < protocol.traits.batchSize; at += 1) {
        const file = all[at]
        if (file?.state !== 'planned') continue
        if (batch.length > 0 && file.isRegistering !== isRepeat) break
        isRepeat = file.isRegistering
        batch.push(file)
      }
      if (batch.length > 0) await registerOrFail(batch, isRepeat, signal)
    },
    again: (file, signal) => register([file], true, signal),
  }
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
