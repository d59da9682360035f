// The interface of a contestant's process: one JSON argument in, one line of JSON out.

/** A contestant reads the fields that it needs. An absent field means the contestant's own default. */
export interface Job {
  /** The file to send. */
  readonly file?: string
  /** Instead of `file`: a folder, each of whose files is sent whole. */
  readonly folder?: string
  /** Instead of `file`: a source of this many bytes that are made in memory as they are read. */
  readonly syntheticBytes?: number
  readonly storageOrigin: string
  /** For contestants that use the service's interface. */
  readonly serviceOrigin: string
  /** Path of our library's built Node entry. */
  readonly face: string
  /** Path of the package.json in whose folder the rivals are installed. */
  readonly rivals: string
  readonly verify?: 'md5' | 'full' | 'off'
  readonly concurrency?: number
  readonly partBytes?: number
  /** Our contestant also reports how many parts it hashed. That costs time and memory, so only unmeasured runs set it. */
  readonly isAudit?: boolean
}

export type Findings = Readonly<Record<string, number>>

/**
 * Runs the work and prints its findings. It adds `transferMs`, the time from here to the end of the work, which leaves
 * out the start of the process and the loading of modules.
 */
export async function contest(work: (job: Job) => Promise<Findings>): Promise<void> {
  const job = JSON.parse(process.argv[2] ?? '{}') as Job
  const startedAt = performance.now()
  const findings = await work(job)
  process.stdout.write(`${JSON.stringify({ ...findings, transferMs: performance.now() - startedAt })}\n`)
}

/** Returns the value. Throws if the job lacks it. */
export function needed<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`The job has no ${name}.`)
  return value
}
