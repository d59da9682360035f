// What a contestant's process is told and what it tells: one argument of JSON in, one line of JSON out.

/** Every contestant reads what it needs of this; what is absent is left at the contestant's own default. */
export interface Job {
  /** The file to send. */
  readonly file?: string
  /** Or a folder whose files are sent, each whole. */
  readonly folder?: string
  /** Or a source without a disk: this many bytes, made from memory as they are read. */
  readonly syntheticBytes?: number
  readonly storageOrigin: string
  /** For the contestants that speak the service's interface. */
  readonly serviceOrigin: string
  /** Our library's Node face, built. */
  readonly face: string
  /** package.json of the folder in which the rivals are installed. */
  readonly rivals: string
  readonly verify?: 'md5' | 'full' | 'off'
  readonly concurrency?: number
  readonly partBytes?: number
  /** Ours also says how many parts it hashed, which costs time and memory: for runs that are not measured. */
  readonly isAudit?: boolean
}

export type Findings = Readonly<Record<string, number>>

/**
 * Runs the work and prints its findings; `transferMs` is added: from here until the work has ended, without the start of
 * the process and the loading of modules before.
 */
export async function contest(work: (job: Job) => Promise<Findings>): Promise<void> {
  const job = JSON.parse(process.argv[2] ?? '{}') as Job
  const startedAt = performance.now()
  const findings = await work(job)
  process.stdout.write(`${JSON.stringify({ ...findings, transferMs: performance.now() - startedAt })}\n`)
}

/** Throws when a job lacks what this contestant cannot do without. */
export function needed<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`The job has no ${name}.`)
  return value
}
