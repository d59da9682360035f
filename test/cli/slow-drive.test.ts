// A drive that does not answer before a command has begun anything is told once, and not while all goes well.

import { expect, it } from 'vitest'

import { slowDrive } from '../../src/cli/slow-drive.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

function listening() {
  const told: unknown[] = []
  const clock = createSimulatedClock()
  const output = {
    event: (name: string, fields: object) => void told.push([name, fields]),
    complain: (text: string) => void told.push(text),
  }
  return { told, clock, wait: slowDrive(output, clock) }
}

it('is told once, after five seconds, with the file that is waited for', async () => {
  const { told, clock, wait } = listening()
  const never = new Promise<never>(() => undefined)
  void wait('at "/mnt/nas/a.mp4"', never)
  void wait('at "/mnt/nas/b.mp4"', never)
  await clock.advance(4_999)
  expect(told).toEqual([])

  await clock.advance(3_600_000)

  const message =
    'Looking at "/mnt/nas/a.mp4" takes long: its drive is slow or does not answer. Nothing has begun yet; Ctrl-C stops.'
  expect(told).toEqual([['warning', { message }], `warning: ${message}`])
  expect(clock.pending).toBe(0)
})

it('is not told of what is answered in time, or fails', async () => {
  const { told, clock, wait } = listening()
  const answers = [wait('at "a"', Promise.resolve(1)), wait('at "b"', Promise.reject(new Error('no')))]
  expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])

  await clock.advance(3_600_000)

  expect(told).toEqual([])
})
