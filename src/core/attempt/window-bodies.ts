// Bodies whose bytes must pass through our memory: an attempt leases windows, fills them from its reader and sends them. Apart
// from the engine, so that a page whose Blobs go unread does not load it.

import { createBody } from './body.ts'
import { invalid } from '../errors.ts'
import type { PartPace } from '../line/pace.ts'
import type { Clock, Reader } from '../ports.ts'
import { createSlicer } from './slices.ts'
import { tellHang } from '../time/tell-hang.ts'
import type { Watchdog } from './watchdog.ts'
import type { Content, WholeBodies, WholeBodyOptions } from './whole-body.ts'
import { createWindowPool, LARGE_PAIR, type WindowPool } from './windows.ts'

export interface WindowBodies extends WindowPool {
  /** What one attempt sends from the windows that it leased. */
  content(options: WindowContentOptions): Content
}

export interface WindowContentOptions extends Pick<WholeBodyOptions, 'unit' | 'reader' | 'hasher' | 'windows'> {
  readonly pace: PartPace
  readonly signal: AbortSignal
  readonly watchdog: Watchdog
  /** Called with true when a read hangs, and with false when it has ended after all. */
  readonly onHang: (isHung: boolean) => void
}

export interface WindowBodiesOptions {
  readonly clock: Clock
  /** The maximum number of parts in flight; each has two windows. */
  readonly concurrency: number
  /** Memory for bodies, bytes. Default 48 MiB. What exceeds two windows for each part makes the windows of some parts large. */
  readonly memoryBytes?: number | undefined
  readonly allocate?: ((bytes: number) => Uint8Array) | undefined
  /** Sends short parts in one piece instead of through windows. */
  readonly wholeBodies?: WholeBodies | undefined
}

const MAX_WINDOW_BYTES = 262_144
const MIN_WINDOW_BYTES = 65_536
const DEFAULT_MEMORY_BYTES = 50_331_648

/**
 * Makes the bodies of one engine. Throws ERR_UPLOAD_INVALID_ARGUMENT for less memory than two windows of 64 KiB for each part.
 */
export function windowBodies(options: WindowBodiesOptions): WindowBodies {
  const { clock } = options
  const pool = createWindowPool(poolOptions(options))

  return {
    ...pool,
    content({ unit, reader: source, hasher, windows, pace, signal, watchdog, onHang }) {
      let readError: unknown
      const failed = (error: unknown): never => {
        // A read that was ended by an abort says nothing about the source.
        if (!signal.aborted) readError = error
        throw error
      }
      const reader: Pick<Reader, 'read'> = {
        read(into, at) {
          let reading
          try {
            reading = source.read(into, at, signal)
          } catch (error) {
            return failed(error)
          }
          return reading && tellHang(clock, Promise.resolve(reading).catch(failed), onHang)
        },
      }
      const take = (bytes: number): Promise<void> | undefined => pace.take(bytes, signal)
      const inWindows = (): Content => {
        const { windows: sequence, ...rest } = createBody({
          unit,
          reader,
          windows,
          hasher,
          slicer: createSlicer(clock, windows[0]?.byteLength ?? 0),
          pace: { pieceBytes: () => pace.pieceBytes(), take },
          onHold: watchdog.hold,
          onReady: watchdog.resume,
        })
        const lengthBytes = unit.end - unit.start
        return { make: () => ({ kind: 'windows', lengthBytes, windows: sequence }), ...rest }
      }
      const whole = windows.length > 1 || pace.isLimited() ? undefined : options.wholeBodies
      const content = whole?.({ unit, reader, hasher, take, windows, watchdog }) ?? inWindows()
      return Object.assign(content, { readError: () => readError })
    },
  }
}

/** Windows as large as the budget allows for this many parts, a power of two of at most 256 KiB. */
function poolOptions({ memoryBytes: budgetBytes = DEFAULT_MEMORY_BYTES, concurrency, allocate }: WindowBodiesOptions) {
  const share = budgetBytes / (2 * concurrency)
  // Every comparison with NaN is false, and in a budget of NaN no window is ever free.
  if (!(share >= MIN_WINDOW_BYTES)) {
    invalid(`memoryBytes must be at least ${2 * concurrency * MIN_WINDOW_BYTES} for ${concurrency} parts in flight.`)
  }
  const windowBytes = Math.min(MAX_WINDOW_BYTES, 2 ** Math.floor(Math.log2(share)))
  // As many large pairs as fit into the budget beside two windows for every part, but no more than there are parts: without an
  // end to the memory, nothing would be left for the others.
  const largePairs = Math.min(concurrency, Math.floor((budgetBytes / windowBytes - 2 * concurrency) / LARGE_PAIR))
  return { budgetBytes, windowBytes, largePairs, allocate }
}
