// Whether a server received what was to be sent: every byte of every file, and not the same ones twice in the place of others.

import type { Contestant } from '../contestants/field.ts'
import type { ServiceCounts } from '../server/service.ts'
import type { SinkCounts } from '../server/sink.ts'

/** A body, by its stamp: the index of the file, where in it the body begins, and its length. */
export type Range = readonly [file: number, at: number, length: number]

/** Throws unless exactly what was to be sent arrived. */
export function checkArrival(
  { load, isOurs }: Pick<Contestant, 'load' | 'isOurs'>,
  { bodyBytes, ranges }: Pick<SinkCounts, 'bodyBytes' | 'ranges'>,
  service: ServiceCounts,
): void {
  if (bodyBytes !== load.bytes) {
    throw new Error(`the server received ${bodyBytes} bytes of the ${load.bytes} that were to be sent`)
  }
  const { bytes, files } = distinct(ranges)
  if (bytes !== load.bytes) {
    throw new Error(`of the ${load.bytes} bytes that the server received, ${load.bytes - bytes} were not the files'`)
  }
  if (files !== load.files) throw new Error(`the server received bytes of ${files} files instead of ${load.files}`)
  if (!isOurs) return
  const told = load.flow === 'capture' ? service.registered : service.confirmed
  if (told !== load.files) throw new Error(`the service was told of ${told} of ${load.files} files`)
}

/** How many bytes of how many files these are, each byte counted once. */
export function distinct(ranges: readonly Range[]): { readonly bytes: number; readonly files: number } {
  const sorted = ranges.toSorted(([file, at], [otherFile, otherAt]) => file - otherFile || at - otherAt)
  let [bytes, files, last, reached] = [0, 0, -1, 0]
  for (const [file, at, length] of sorted) {
    if (file !== last) [files, last, reached] = [files + 1, file, 0]
    const end = at + length
    bytes += Math.max(0, end - Math.max(at, reached))
    reached = Math.max(reached, end)
  }
  return { bytes, files }
}
