// What a part of the benchmark is: a name by which it is asked for, and work that ends in a result.

import type { Machine } from './report/machine.ts'
import type { PartResult } from './report/result.ts'

/** What the runner gives to a part. */
export interface BenchSetting {
  /** Root of the project. */
  readonly root: string
  /** The product as it is shipped, freshly built: `<dist>/node.js` and `<dist>/cli/cli.js`. */
  readonly dist: string
  /** Where the compiled programs of the benchmark are: `<folder>/contestants/<name>.js`. */
  readonly programs: string
  /** An empty folder on disk for files to send; removed afterwards. */
  readonly scratch: string
  /** How often each contestant runs. Undefined: the part's own default. */
  readonly rounds: number | undefined
  /** Tiny sizes: shows that everything works; its numbers mean nothing and its bars are not judged. */
  readonly isQuick: boolean
  readonly machine: Machine
  /** Keeps what was measured so far, for parts that take long: a run that is stopped then loses nothing of it. */
  keep(soFar: PartResult): Promise<void>
  /** A line for whoever watches; goes to stderr. */
  say(line: string): void
}

export interface BenchPart {
  /** As it is written on the command line; the name of its files in bench/results. */
  readonly name: string
  /** One line for the list of parts. */
  readonly about: string
  /** Undefined, after having said why, where the machine lacks what the part needs. */
  run(setting: BenchSetting): Promise<PartResult | undefined>
}
