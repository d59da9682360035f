// One part with all that sendPart needs, where each port can be replaced.

import { readAddress } from '../../../src/core/address/address.ts'
import { createPace } from '../../../src/core/line/pace.ts'
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { Hasher, Reader, Transport } from '../../../src/core/ports.ts'
import type { Attempt, AttemptResult } from '../../../src/core/attempt/attempt.ts'
import { createReaderCache } from '../../../src/core/attempt/reader-cache.ts'
import { sendPart, type SendPartPorts } from '../../../src/core/attempt/send-part.ts'
import { DEFAULT_TIMEOUTS } from '../../../src/core/attempt/watchdog.ts'
import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import { windowBodies } from '../../../src/core/attempt/window-bodies.ts'
import { createScriptedTransport } from '../../helpers/scripted-transport.ts'
import { createSimulatedClock, type SimulatedClock } from '../../helpers/simulated-clock.ts'
import { slowHasher } from '../../simulation/slow-hasher.ts'
import { testProtocol } from '../../simulation/test-protocol.ts'
import { watchedSource } from '../../simulation/watched-source.ts'
import { fill } from '../../simulation/world.ts'

export const BYTES = fill(500, 3)
export const MD5 = createHash('md5').update(BYTES).digest('hex')

interface SetUpOptions {
  readonly bytes?: Uint8Array
  readonly end?: number
  /** `whole`: by a hasher that takes bodies of one piece. */
  readonly isHashed?: boolean | 'whole'
  readonly isBlob?: boolean
  readonly digestBlob?: NonNullable<Hasher['digestBlob']>
  readonly isPoolFull?: boolean
  /** Nothing can pass through us. Default false. */
  readonly hasNoBodies?: boolean
  /** Sends a short part in one piece, as Node does. Default false: through windows, so that they are tested. */
  readonly isWhole?: boolean
  readonly limitRate?: string
  readonly isProgressLive?: boolean
  readonly readMs?: number
  readonly request?: () => never
  readonly isExpired?: () => boolean
  /** It is what is left of a part. */
  readonly isRest?: boolean
  readonly hasQueue?: boolean
  /** Opens the source, instead of the reader that is given. */
  readonly open?: () => Promise<Reader>
}

export async function setUp(options: SetUpOptions = {}) {
  const { bytes = BYTES, readMs } = options
  const clock: SimulatedClock = createSimulatedClock()
  const transport = createScriptedTransport()
  const pool = windowBodies({
    ...{ clock, memoryBytes: 4 * 64 * 1024, concurrency: 2 },
    ...(options.isWhole === true ? { wholeBodies: wholeBodies() } : {}),
  })
  if (options.isPoolFull === true)
    for (const size of [100_000, 100_000]) await pool.lease(size, new AbortController().signal)
  const source = watchedSource('a.bin', bytes, {
    clock,
    ...(readMs === undefined ? {} : { readMs: () => readMs }),
    ...(options.isBlob === undefined ? {} : { isBlob: options.isBlob }),
  })
  const reader = await source.open({ sizeBytes: bytes.byteLength })
  const controller = new AbortController()
  const sent: number[] = []
  const grownBytes: number[] = []
  /** What was said each time that the slot was given back. */
  const freed: boolean[] = []
  const { isProgressLive = true, hasQueue = false } = options
  const told = Object.assign(Object.create(transport) as Transport, { isProgressLive, hasQueue })
  const attempts: Attempt[] = []
  const protocol = testProtocol()
  const send = (given: Reader = reader): Promise<AttemptResult> => {
    const ports: SendPartPorts = {
      transport: told,
      clock,
      bodies: options.hasNoBodies === true ? undefined : pool,
      timeouts: DEFAULT_TIMEOUTS,
      pace: createPace(clock, options.limitRate ?? 'off'),
      hasher: hasherOf(options, clock),
      protocol: { ...protocol, ...(options.request === undefined ? {} : { request: options.request }) },
      readers: createReaderCache(options.open ?? (() => Promise.resolve(given))),
      isExpired: options.isExpired ?? (() => false),
      hold: () => undefined,
      onSent({ sentBytes }, grown) {
        sent.push(sentBytes)
        grownBytes.push(grown)
      },
    }
    const end = options.end ?? bytes.byteLength
    const attempt: Attempt = {
      unit: { fileIndex: 0, partNumber: 1, start: 0, end },
      lengthBytes: end,
      address: readAddress('https://store.test/0/1?g=1&X-Amz-Signature=5ec4e7'),
      isFreshConnection: false,
      isWhole: options.isRest !== true,
      controller,
      onFree: (isAnswered) => freed.push(isAnswered),
      isSending: false,
      isHung: undefined,
      sentBytes: 0,
      hasTold: false,
      watchdog: undefined,
      lease: undefined,
      expiry: undefined,
      end: undefined,
    }
    attempts.push(attempt)
    return sendPart(ports, attempt)
  }
  /** Takes the whole body of the next request, then answers. */
  const answer = async (reply: {
    status: number
    hidesHeaders?: boolean
    headers?: Record<string, string>
  }): Promise<void> => {
    const request = await transport.next()
    await request.bodyBytes()
    request.request.onSent?.(bytes.byteLength)
    request.reply(reply)
  }
  return { send, answer, transport, clock, pool, source, controller, sent, grownBytes, freed, attempts }
}

function hasherOf({ isHashed, digestBlob }: SetUpOptions, clock: SimulatedClock): Hasher | undefined {
  const hasher = slowHasher(clock, () => 0)
  if (digestBlob !== undefined) return { start: () => hasher.start(), digestBlob }
  if (isHashed === 'whole') return { start: () => expect.unreachable('It begins no hash.'), whole: digestOfCopy }
  return isHashed === true ? hasher : undefined
}

function digestOfCopy(bytes: Uint8Array): () => string {
  const copy = bytes.slice()
  return () => createHash('md5').update(copy).digest('hex')
}

export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  const note = (): void => void (isOver = true)
  promise.then(note, note)
  await new Promise((resolve) => setImmediate(resolve))
  return isOver
}
