import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { pullFrom, type StreamInput } from '../../../../src/adapters/node/files/stream-pull.ts'

/** What nobody could catch, and would have ended the process of a host. */
function uncaught(): readonly unknown[] {
  const errors: unknown[] = []
  const note = (error: unknown): void => void errors.push(error)
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', note)
  onTestFinished(() => {
    process.off('uncaughtException', note)
    for (const listener of listeners) process.on('uncaughtException', listener)
  })
  return errors
}

it.each([0, 1, 2, 3])('ends a web stream of a Node stream in the middle of a read, after %d others', async (before) => {
  const errors = uncaught()
  const node = Readable.from([1, 2, 3, 4, 5].map((byte) => Buffer.alloc(10, byte)))
  const { pull, stop } = pullFrom(Readable.toWeb(node) as StreamInput, 'take-7.mp4')
  for (let reads = 0; reads < before; reads += 1) await pull()

  const pulling = pull()
  stop()
  await pulling
  await new Promise((resolve) => node.once('close', resolve))

  expect(errors).toEqual([])
})

it('ends a web stream of a Node stream that nobody has read', async () => {
  const errors = uncaught()
  const node = Readable.from([Buffer.alloc(10)])

  pullFrom(Readable.toWeb(node) as StreamInput, 'take-7.mp4').stop()
  await new Promise((resolve) => node.once('close', resolve))

  expect(errors).toEqual([])
})

it('ends a web stream of which a read begins in the turn of its end', async () => {
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) })
  const { pull, stop } = pullFrom(stream, 'take-7.mp4')
  stop()
  void pull()

  await expect.poll(() => isCancelled).toBe(true)
})

it('refuses text whose piece ends within a character, and takes one that is whole', async () => {
  const text = '{"player":"😀"}'
  const cut = text.indexOf('"}') - 1

  const whole = pullFrom(Readable.from([text]), 'take-7.json')
  await expect(whole.pull()).resolves.toEqual(Buffer.from(text))
  const halves = pullFrom(Readable.from([text.slice(0, cut), text.slice(cut)]), 'take-7.json')
  await expect(halves.pull()).rejects.toMatchObject({
    code: 'ERR_UPLOAD_SOURCE_READ',
    message: expect.stringContaining('half a character') as string,
  })
})
