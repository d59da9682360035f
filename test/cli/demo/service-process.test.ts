// The demo's service as a process of its own: what ends it, and what is said of that.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'

import { startServiceProcess } from '../../../src/cli/demo/service-process.ts'

it('is not called lost where the demo kills it, as after an error that nobody caught', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-service-process-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const entry = join(folder, 'entry.cjs')
  // Its address says which process it is.
  await writeFile(
    entry,
    `console.log(JSON.stringify({ event: 'listening', url: String(process.pid) })); setInterval(() => {}, 1e6)`,
  )
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', entry])
  const kills: (() => void)[] = []
  const atOnce = (kill: () => void) => {
    kills.push(kill)
    return () => undefined
  }
  const service = await startServiceProcess(folder, '0s', { atOnce })
  let isLost = false
  void service.lost.then(() => (isLost = true))

  for (const kill of kills) kill()
  await vi.waitFor(() => expect(() => process.kill(Number(service.url), 0)).toThrow('ESRCH'))
  await service.stop()

  expect(isLost).toBe(false)
})
