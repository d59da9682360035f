// Limits per organisation, per remote address and per call. No honest night reaches the defaults.

import { integerIn } from '../option-checks.ts'

export interface ServiceLimits {
  /** Calls of one organisation per minute; unused calls are not saved up. Default 30,000. */
  readonly callsPerMinute?: number | undefined
  /** Calls with refused credentials from one remote address per minute. Default 300. */
  readonly refusalsPerMinute?: number | undefined
  /** Video sessions of one organisation that are neither finished nor cancelled. Default 10,000. */
  readonly openSessions?: number | undefined
  /** Files in one video session. Default 10,000, at most 100,000; never unlimited. */
  readonly filesPerSession?: number | undefined
  /** Names in one registration of capture files. Default 10,000, at most 100,000; never unlimited. */
  readonly namesPerCall?: number | undefined
  /** Bytes of a call's JSON body. Default 16 MiB, at most 256 MiB; never unlimited. */
  readonly bodyBytes?: number | undefined
}

/** The limits with every default filled in. For the first three, 0 means no limit. */
export type LimitSettings = { readonly [Name in keyof ServiceLimits]-?: number }

const MIB = 1024 ** 2
const DEFAULTS: LimitSettings = {
  callsPerMinute: 30_000,
  refusalsPerMinute: 300,
  openSessions: 10_000,
  filesPerSession: 10_000,
  namesPerCall: 10_000,
  // Ten thousand file names fit easily.
  bodyBytes: 16 * MIB,
}
const RANGES: Readonly<Record<keyof LimitSettings, readonly [least: number, most: number]>> = {
  callsPerMinute: [0, 1_000_000_000],
  refusalsPerMinute: [0, 1_000_000_000],
  openSessions: [0, 1_000_000],
  filesPerSession: [1, 100_000],
  namesPerCall: [1, 100_000],
  bodyBytes: [1024, 256 * MIB],
}

/** Throws a TypeError that names the limit and its range. */
export function resolveLimits(limits: ServiceLimits = {}): LimitSettings {
  const settings = { ...DEFAULTS }
  for (const name of Object.keys(RANGES) as (keyof LimitSettings)[]) {
    settings[name] = integerIn(RANGES[name], `limits.${name}`, limits[name] ?? DEFAULTS[name])
  }
  return settings
}
