// @aws-sdk/lib-storage at its defaults: parts of 5 MiB from a stream, four at once, with the SDK's own checksums.

import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { contest, needed } from './job.ts'

/** The parts that we use of the packages, which are installed only in the benchmark's own folder. */
interface ClientS3 {
  readonly S3Client: new (options: object) => { destroy(): void }
}
interface LibStorage {
  readonly Upload: new (options: { client: object; params: object }) => { done(): Promise<unknown> }
}

await contest(async (job) => {
  const load = createRequire(job.rivals)
  const { S3Client } = load('@aws-sdk/client-s3') as ClientS3
  const { Upload } = load('@aws-sdk/lib-storage') as LibStorage
  const client = new S3Client({
    endpoint: job.storageOrigin,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  })
  const params = { Bucket: 'bench', Key: 'file', Body: createReadStream(needed(job.file, 'file')) }
  await new Upload({ client, params }).done()
  client.destroy()
  return {}
})
