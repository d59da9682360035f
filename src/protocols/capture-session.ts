// Motion capture: one session, names registered in batches in capture order, and one streamed PUT per file, whose 2xx
// is the receipt. There is nothing to confirm, and no call to cancel.

import { wasDoubtful, withDetails } from '../core/errors.ts'
import { ONE_PUT_LIMITS } from '../core/plan.ts'
import type { AddressedFile, PlannedFile, Protocol, RegisterOptions } from '../core/ports.ts'
import type { MocapSessionInput } from '../client/contract/captures.ts'
import type { CallOptions, ServiceClient } from '../client/operations.ts'
import { isRefusal } from '../client/status.ts'
import { partJudge } from './judge-part.ts'

/** The fields of a session, as a flow writes them to the journal. */
export interface CaptureParams {
  /** The session to add to. Default: one is created from the fields below. */
  readonly sessionId?: string | number
  readonly orgId?: string
  readonly mocapTypeId: number
  /** YYYY-MM-DD. */
  readonly sessionDate?: string
  readonly sessionTypeId?: number
  /** Frames a second. The service requires it for plain video. */
  readonly frameRate?: number
  /** Whether names that the session already has are sent again. Default false. */
  readonly reprocess?: boolean
  /** Names in one registration. Default 100. The interface shows no limit. */
  readonly batchSize?: number
}

export interface CaptureSessionOptions extends CaptureParams {
  readonly client: ServiceClient
}

const DEFAULT_BATCH_SIZE = 100

export function captureSession(options: CaptureSessionOptions): Protocol {
  const { client, reprocess = false, batchSize = DEFAULT_BATCH_SIZE, frameRate } = options

  const registerNames = async (
    sessionId: string | number,
    files: readonly PlannedFile[],
    isReprocess: boolean,
    calling: CallOptions,
  ): Promise<AddressedFile[]> => {
    const addresses = await client.mocapSessionFiles.register(
      {
        sessionId,
        filenames: files.map((file) => file.name),
        reprocess: isReprocess,
        frameRate,
      },
      calling,
    )
    return files.map(({ fileIndex, name }) => ({ fileIndex, addresses: [addresses.get(name) ?? ''] }))
  }

  return {
    traits: {
      units: ONE_PUT_LIMITS,
      order: 'any',
      addressing: 'batches',
      batchSize,
    },
    async create(_files, signal, onWaiting) {
      if (options.sessionId !== undefined) return { sessionId: options.sessionId }
      // The client takes the fields of a session and ignores all others. It says which one is missing.
      const session = await client.mocapSessions.create(options as MocapSessionInput, { signal, onWaiting })
      return { sessionId: session.sessionId, hasPossibleOrphan: session.hasPossibleOrphan ?? false }
    },
    async register(sessionId, files, { isRepeat, ...calling }: RegisterOptions) {
      const { signal, onWaiting } = calling
      try {
        return await registerNames(sessionId, files, reprocess, calling)
      } catch (error) {
        // The names may be there because of us: an earlier registration whose answer was lost. Only then does a refusal
        // not mean a duplicate of somebody's file, and `reprocess` overwrites nothing but what we never finished.
        if (reprocess || !isRefusal(error) || !(isRepeat || wasDoubtful(error))) throw error
        return await registerNames(sessionId, files, true, {
          signal,
          onWaiting: (wait) => onWaiting?.(wait && { ...wait, isDoubtful: true }),
        }).catch((failure: unknown) => {
          // Whatever becomes of this call, the names may be there because of us.
          throw signal.aborted ? failure : withDetails(failure, { isDoubtful: true })
        })
      }
    },
    request: () => ({ method: 'PUT', headers: {} }),
    judge: partJudge(true),
  }
}
