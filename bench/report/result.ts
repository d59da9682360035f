// What a part of the benchmark returns: every single run, the bars that it had to reach, and how to show them.

import type { Summary } from './statistics.ts'

/** One run of one contestant. Units are in the names of the measures: `wallMs`, `gigabytesPerSecond`, `peakMib`. */
export interface Run {
  readonly contestant: string
  /** Counts from 1. The runs of a round followed each other. */
  readonly round: number
  readonly measures: Readonly<Record<string, number>>
  /** The settings of this run that differ from the contestant's defaults, such as a part size. */
  readonly setting?: Readonly<Record<string, number | string>>
}

/** What the product has to reach, and whether it does. */
export interface Bar {
  /** What is compared, such as `throughput, mocap-uplink ÷ curl -T`. */
  readonly name: string
  readonly rule: 'atLeast' | 'atMost'
  readonly limit: number
  /** `×` for a ratio, else the unit of the limit. */
  readonly unit: string
  readonly status: 'met' | 'missed' | 'not measured'
  /** The number that was judged: the median, or the worst run if every run has to keep the limit. */
  readonly value?: number
  readonly spread?: Summary
}

/** A column of the printed table: the median of a measure, with its spread. */
export interface Column {
  readonly measure: string
  /** With its unit, such as `GB/s`. */
  readonly label: string
}

/** A drawing beside the numbers. `name` becomes part of its file's name; it is '' if there is only one. */
export interface Plot {
  readonly name: string
  readonly svg: string
}

export interface PartResult {
  /** Name of the part and of its files. */
  readonly part: string
  readonly title: string
  /** What was done, in sentences from which anyone can judge whether the comparison is fair. */
  readonly about: readonly string[]
  readonly columns: readonly Column[]
  readonly runs: readonly Run[]
  readonly bars: readonly Bar[]
  readonly plots: readonly Plot[]
  /** What went wrong or is missing, such as a contestant that could not take part. */
  readonly shortfalls: readonly string[]
}

/** The values of a measure over a contestant's runs, in the order of rounds. Runs without it are left out. */
export function valuesOf(
  runs: readonly Run[],
  contestant: string,
  measure: string,
  setting: Readonly<Record<string, number | string>> = {},
): number[] {
  return runs
    .filter((run) => run.contestant === contestant)
    .filter((run) => Object.entries(setting).every(([name, value]) => run.setting?.[name] === value))
    .toSorted((one, other) => one.round - other.round)
    .flatMap((run) => run.measures[measure] ?? [])
}
