// A part of the benchmark: a name by which it is run, and work that ends in a result.

import type { Machine } from './report/machine.ts'
import type { PartResult } from './report/result.ts'

/** What the runner gives to a part. */
export interface BenchSetting {
  /** Root of the project. */
  readonly root: string
  /** Folder of the product as shipped, freshly built: `<dist>/node.js` and `<dist>/cli/cli.js`. */
  readonly dist: string
  /** Folder of the benchmark's compiled programs: `<programs>/contestants/<name>.js`. */
  readonly programs: string
  /** An empty folder on disk for files to send; removed afterwards. */
  readonly scratch: string
  /** How often each contestant runs. Undefined means the part's own default. */
  readonly rounds: number | undefined
  /** Use tiny sizes, to show that everything works. The numbers mean nothing and no bar is judged. */
  readonly isQuick: boolean
  readonly machine: Machine
  /** Keeps what has been measured so far, for parts that take long. A run that is stopped then loses nothing of it. */
  keep(soFar: PartResult): Promise<void>
  /** Prints a line for whoever watches, on stderr. */
  say(line: string): void
}

export interface BenchPart {
  /** Its name on the command line and of its files in bench/results. */
  readonly name: string
  /** One line for the list of parts. */
  readonly about: string
  /** Resolves with undefined if the machine lacks what the part needs, after saying what. */
  run(setting: BenchSetting): Promise<PartResult | undefined>
}
