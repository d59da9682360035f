// tus-js-client at its defaults: one request that carries the whole file as a stream.

import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { contest, needed } from './job.ts'

/** The part that we use of the package, which is installed only in the benchmark's own folder. */
interface Tus {
  readonly Upload: new (
    input: unknown,
    options: { endpoint: string; onSuccess: () => void; onError: (error: Error) => void },
  ) => { start(): void }
}

await contest(async (job) => {
  const { Upload } = createRequire(job.rivals)('tus-js-client') as Tus
  const input = createReadStream(needed(job.file, 'file'))
  await new Promise<void>((onSuccess, onError) => {
    new Upload(input, { endpoint: `${job.storageOrigin}/tus/`, onSuccess, onError }).start()
  })
  return {}
})
