// The way of bytes that must pass through us: an attempt leases windows, fills them from its reader and sends them. Apart from
// the engine, so that a page whose Blobs go unread does not load it.

import { createBody } from './body.ts'
import { invalid } from '../errors.ts'
import type { PartPace } from '../line/pace.ts'
import type { Clock } from '../ports.ts'
import { createSlicer } from './slices.ts'
import type { Watchdog } from './watchdog.ts'
import type { Content, WholeBodies, WholeBodyOptions } from './whole-body.ts'
import { createWindowPool, type WindowLease, type WindowPool } from './windows.ts'

export interface WindowBodies extends Omit<WindowPool, 'lease'> {
  lease(bodyBytes: number, signal: AbortSignal): WindowLease | Promise<WindowLease>
  /** What one attempt sends from the windows that it leased. */
  content(options: WindowContentOptions): Content
}

export interface WindowContentOptions extends Pick<WholeBodyOptions, 'unit' | 'reader' | 'hasher' | 'windows'> {
  readonly pace: PartPace
  readonly signal: AbortSignal
  readonly watchdog: Watchdog
}

export interface WindowBodiesOptions {
  readonly clock: Clock
  /** Parts in flight, at most: each has two windows. */
  readonly concurrency: number
  /** Memory for bodies, bytes. Default 32 MiB. Parts in flight × 2 windows never exceed it. */
  readonly memoryBytes?: number
  readonly allocate?: (bytes: number) => Uint8Array
  /** Sends short parts in one piece instead of through windows. */
  readonly wholeBodies?: WholeBodies
}

const MAX_WINDOW_BYTES = 262_144
/** A body at such a rate, 25 MB/s, has soon done with its memory, so that it may have more of it. */
const QUICK_BYTES_PER_MS = 25_000
const MIN_WINDOW_BYTES = 65_536
const DEFAULT_MEMORY_BYTES = 33_554_432

/** For one engine. Throws ERR_UPLOAD_INVALID_ARGUMENT for less memory than windows of 64 KiB take. */
export function windowBodies(options: WindowBodiesOptions): WindowBodies {
  const { clock } = options
  const pool = createWindowPool(poolOptions(options))
  /** Whether the body that was taken last went out quickly. */
  let isQuick = false

  return {
    windowBytes: pool.windowBytes,
    lease: (bodyBytes, signal) => pool.lease(bodyBytes, signal, isQuick),
    leasedBytes: pool.leasedBytes,
    content({ unit, reader, hasher, windows, pace, signal, watchdog }) {
      const take = (bytes: number): Promise<void> | undefined => pace.take(bytes, signal)
      const whole = windows.length > 1 || pace.isLimited() ? undefined : options.wholeBodies
      const short = whole?.({ unit, reader, hasher, take, windows, signal, watchdog })
      if (short !== undefined) return short
      const beganAtMs = clock.monotonicNow()
      const lengthBytes = unit.end - unit.start
      const { windows: sequence, ...body } = createBody({
        unit,
        reader,
        windows,
        hasher,
        signal,
        slicer: createSlicer(clock, 2 * (windows[0]?.byteLength ?? 0)),
        pace: { pieceBytes: () => pace.pieceBytes(), take },
        onHold: () => watchdog.hold(),
        onReady: () => watchdog.resume(),
      })
      return {
        ...body,
        make: () => ({ kind: 'windows', lengthBytes, windows: sequence }),
        digest() {
          isQuick = (clock.monotonicNow() - beganAtMs) * QUICK_BYTES_PER_MS < lengthBytes
          return body.digest()
        },
      }
    },
  }
}

/** Windows as large as the budget allows for the largest cap, a power of two. */
function poolOptions({ memoryBytes: budgetBytes = DEFAULT_MEMORY_BYTES, concurrency, allocate }: WindowBodiesOptions) {
  const share = budgetBytes / (2 * concurrency)
  if (share < MIN_WINDOW_BYTES) {
    invalid(`memoryBytes must be at least ${2 * concurrency * MIN_WINDOW_BYTES} for ${concurrency} parts in flight.`)
  }
  const windowBytes = Math.min(MAX_WINDOW_BYTES, 2 ** Math.floor(Math.log2(share)))
  return { budgetBytes, windowBytes, ...(allocate === undefined ? {} : { allocate }) }
}
