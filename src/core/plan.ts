// How a file is cut into parts, and how sizes are read and written. Pure: the same input gives the same answer. The cut is
// even: a service that knows only the size and the number of parts derives a part's size as ceil(size / count), so wherever the
// limits allow it we cut in that way, and nobody has to be told.

import { invalid, invariant } from './errors.ts'
import type { UnitLimits } from './ports/protocol.ts'

// The numbers are written out: bundlers keep a product, and whatever contains it, in pages that do not use it.
const MIB = 1_048_576
const GIB = 1_073_741_824

/** S3's limits for the parts of a multipart upload. A store may have others: OpenStack Swift takes 1,000 parts unless set up for more. */
export const S3_LIMITS: UnitLimits = /* @__PURE__ */ Object.freeze({
  minBytes: 5_242_880,
  maxBytes: 5_368_709_120,
  maxCount: 10_000,
  multipleOfBytes: 1,
})

/** The limits of a file that goes out as one PUT. */
export const ONE_PUT_LIMITS: UnitLimits = /* @__PURE__ */ Object.freeze({
  minBytes: 0,
  maxBytes: 5_368_709_120,
  maxCount: 1,
  multipleOfBytes: 1,
})

/** How a file is cut: every part but the last is `partSizeBytes` long, which is at least 1. */
export interface FilePlan {
  readonly partCount: number
  readonly partSizeBytes: number
}

export interface PlanFileOptions {
  /** For messages. */
  readonly name: string
  readonly sizeBytes: number
  readonly limits: UnitLimits
  /** The part size that was asked for. Default: `defaultPartSize`, clamped to the limits. Raised when it would make too many parts. */
  readonly partSizeBytes?: number | undefined
}

/**
 * The part size when nobody asks for one: a 128th of the file, at least 5 MiB and at most 16 MiB. With 64 connections that is
 * two parts for each; with only one, the end of a session is a wait for the slowest. With fewer connections, fewer parts are
 * enough: `partCount` is their number.
 */
export function defaultPartSize(sizeBytes: number, partCount = 128): number {
  return Math.min(Math.max(Math.ceil(sizeBytes / partCount), 5 * MIB), 16 * MIB)
}

/** A part size in bytes, or a function that derives it from the size of a file. What the function gives is clamped to the limits. */
export type PartSize = number | ((sizeBytes: number) => number)

/**
 * Cuts a file into parts. An empty file is one empty part; a file of one part may be shorter than the minimum. Throws
 * ERR_UPLOAD_INVALID_ARGUMENT when the size is no whole number, when the part size asked for is outside the limits, when
 * the limits cannot hold the file, and when they are no limits.
 */
export function planFile({ name, sizeBytes, limits, partSizeBytes }: PlanFileOptions): FilePlan {
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    invalid(`The size of "${name}" must be a whole number of bytes, not ${sizeBytes}.`, { name })
  }
  const unit = limits.multipleOfBytes
  const largestPartBytes = Math.floor(limits.maxBytes / unit) * unit
  const most = limits.maxCount * largestPartBytes
  if (!(most > 0 && limits.minBytes <= largestPartBytes)) invalid('The limits of a part leave no room for one.')
  if (partSizeBytes !== undefined) checkAskedSize(partSizeBytes, limits)
  if (sizeBytes > most) {
    invalid(
      `"${name}" is too large: ${formatBytes(sizeBytes)} (${sizeBytes} bytes), and at most ${formatBytes(most)} ` +
        `(${most} bytes) can be sent.`,
      { name, sizeBytes, limitBytes: most },
    )
  }

  const wantedBytes = partSizeBytes ?? Math.max(defaultPartSize(sizeBytes), limits.minBytes)
  const fewestBytes = Math.ceil(sizeBytes / limits.maxCount)
  const askedBytes = Math.min(roundUp(Math.max(wantedBytes, fewestBytes), unit), largestPartBytes)
  const partCount = Math.max(1, Math.ceil(sizeBytes / askedBytes))
  if (partCount === 1) return { partCount, partSizeBytes: Math.max(1, sizeBytes) }
  // The even size is never above the one asked for, so it cannot change the count.
  const evenBytes = roundUp(Math.max(limits.minBytes, Math.ceil(sizeBytes / partCount)), unit)
  return { partCount, partSizeBytes: evenBytes }
}

/** The bytes of one part, `end` exclusive. `partNumber` counts from 1. */
export function partRange(plan: FilePlan, sizeBytes: number, partNumber: number): { start: number; end: number } {
  invariant(
    Number.isInteger(partNumber) && partNumber >= 1 && partNumber <= plan.partCount,
    `part ${partNumber} is one of ${plan.partCount}`,
  )
  const start = (partNumber - 1) * plan.partSizeBytes
  return { start, end: Math.min(start + plan.partSizeBytes, sizeBytes) }
}

function checkAskedSize(partSizeBytes: number, limits: UnitLimits): void {
  const minBytes = Math.max(1, limits.minBytes)
  const { maxBytes } = limits
  if (Number.isSafeInteger(partSizeBytes) && partSizeBytes >= minBytes && partSizeBytes <= maxBytes) return
  invalid(
    `The part size must be a whole number of bytes from ${minBytes} (${formatBytes(minBytes)}) to ${maxBytes} ` +
      `(${formatBytes(maxBytes)}), not ${partSizeBytes}.`,
    { partSizeBytes, minBytes, maxBytes },
  )
}

function roundUp(bytes: number, multipleOf: number): number {
  return Math.ceil(bytes / multipleOf) * multipleOf
}

// ---- Sizes as people write them ----------------------------------------------------------------------------------

const UNIT_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 1024,
  mib: MIB,
  gib: GIB,
  tib: 1_099_511_627_776,
}
const UNIT_NAMES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/**
 * Reads a size: `16MiB`, `5 MB`, `1.5GiB`, `1048576`. KB, MB, GB, TB count in thousands; KiB, MiB, GiB, TiB in 1024s.
 * `Mb` is refused, because it means bits. Throws ERR_UPLOAD_INVALID_ARGUMENT.
 */
export function parseByteSize(text: string): number {
  const match = /^(\d{1,16}(?:\.\d{1,9})?) ?([A-Za-z]{0,3})$/.exec(text.trim())
  const unit = match?.[2] ?? ''
  if (/^[KMGT]b$/.test(unit)) {
    invalid(`"${text}" is a number of bits; sizes are in bytes: write ${unit.charAt(0)}B or ${unit.charAt(0)}iB.`)
  }
  const unitBytes = unit === '' ? 1 : UNIT_BYTES[unit.toLowerCase()]
  const bytes = match === null || unitBytes === undefined ? NaN : Number(match[1]) * unitBytes
  if (!Number.isSafeInteger(Math.round(bytes)) || Math.abs(bytes - Math.round(bytes)) > 1e-6) {
    invalid(`"${text.slice(0, 40)}" is not a size in whole bytes: write it like 16MiB, 5MB or 1048576.`)
  }
  return Math.round(bytes)
}

/** Writes a size for people: 1536 is `1.5 KiB`. At most one decimal. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let step = 0
  // 1023.95 would be shown as "1024", so it already belongs to the next unit.
  while (value >= 1023.95 && step < UNIT_NAMES.length - 1) {
    value /= 1024
    step += 1
  }
  return `${Math.round(value * 10) / 10} ${UNIT_NAMES[step] ?? ''}`
}
