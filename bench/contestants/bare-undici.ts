// The floor: what undici and positional reads cost without an engine. It sends the parts of a file, each connection
// through two reused windows, and hashes, retries and records nothing.

import { open } from 'node:fs/promises'
import { Pool } from 'undici'
import { contest, needed } from './job.ts'

const WINDOW_BYTES = 1 << 20

await contest(async (job) => {
  const { concurrency = 4, partBytes = 16 << 20 } = job
  const file = await open(needed(job.file, 'file'))
  const { size } = await file.stat()
  const pool = new Pool(job.storageOrigin, { connections: concurrency, pipelining: 1 })
  let next = 0

  async function* body(windows: readonly Buffer[], start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start, turn = 0; at < end; turn += 1) {
      const window = windows[turn % windows.length]!
      const { bytesRead } = await file.read(window, 0, Math.min(window.length, end - at), at)
      if (bytesRead === 0) throw new Error('The file ended early.')
      at += bytesRead
      yield window.subarray(0, bytesRead)
    }
  }

  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      const windows = [Buffer.allocUnsafeSlow(WINDOW_BYTES), Buffer.allocUnsafeSlow(WINDOW_BYTES)]
      while (next < size) {
        const start = next
        const end = Math.min(start + partBytes, size)
        next = end
        const answer = await pool.request({
          method: 'PUT',
          path: `/bare/${start}`,
          headers: { 'content-length': String(end - start) },
          body: body(windows, start, end) as never,
        })
        await answer.body.dump()
        if (answer.statusCode !== 200) throw new Error(`A part was answered with ${answer.statusCode}.`)
      }
    }),
  )
  await pool.close()
  await file.close()
  return {}
})
