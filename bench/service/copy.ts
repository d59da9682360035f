// One copy of the service as a process, started with its options in the environment. It reports where it listens and,
// whenever it is asked, how much processor time it has used.

import type * as Service from '../../src/service/index.ts'

/** What the parent passes in the environment variable COPY. */
export interface CopyOrder {
  /** The built service, `<dist>/service.js`. */
  readonly program: string
  readonly options: Service.ServiceOptions
}

const { program, options } = JSON.parse(process.env['COPY'] ?? '') as CopyOrder
const { startService } = (await import(program)) as typeof Service
const service = await startService(options)
const answer = (message: object): void => void process.send?.(message)
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  answer({ cpuMs: (user + system) / 1_000 })
})
// A parent that ends, however it ends, takes its copies with it.
process.once('disconnect', () => void service.close().finally(() => process.exit(0)))
answer({ url: service.url })
