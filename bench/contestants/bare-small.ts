// The floor for small files: only opens, stats, reads, closes and PUTs each file of a folder, `concurrency` of them at once.

import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Pool } from 'undici'
import { contest, needed } from './job.ts'

await contest(async (job) => {
  const { concurrency = 16 } = job
  const folder = needed(job.folder, 'folder')
  const names = (await readdir(folder)).toSorted()
  const pool = new Pool(job.storageOrigin, { connections: concurrency, pipelining: 1 })
  let next = 0

  async function readWhole(path: string): Promise<Buffer> {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      const bytes = Buffer.allocUnsafe(size)
      const { bytesRead } = await file.read(bytes, 0, size, 0)
      if (bytesRead !== size) throw new Error('A file ended early.')
      return bytes
    } finally {
      await file.close()
    }
  }

  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < names.length) {
        const name = names[next++]!
        const body = await readWhole(join(folder, name))
        const answer = await pool.request({ method: 'PUT', path: `/bare/${name}`, body })
        await answer.body.dump()
        if (answer.statusCode !== 200) throw new Error(`A file was answered with ${answer.statusCode}.`)
      }
    }),
  )
  await pool.close()
  return {}
})
