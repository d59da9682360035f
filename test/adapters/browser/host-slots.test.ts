import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { tellingHiddenAnswers } from '../../../src/adapters/browser/hidden-answers.ts'
import { sharingHosts } from '../../../src/adapters/browser/host-slots.ts'
import type { Transport, TransportReply, TransportRequest } from '../../../src/core/ports.ts'

const REPLY: TransportReply = { status: 200, headers: {}, body: new Uint8Array(), isBodyCut: false }

beforeEach(() => {
  // A place is kept for a second, which passes when a test lets it and not while this process gets no processor.
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Exclusive locks, first come first served, and how often one was asked for. */
function fakeLocks(failing?: Error) {
  const tails = new Map<string, Promise<unknown>>()
  const seen = { questions: 0 }
  const request = (name: string, work: () => Promise<unknown>): Promise<unknown> => {
    seen.questions += 1
    if (failing !== undefined) return Promise.reject(failing)
    const turn = (tails.get(name) ?? Promise.resolve()).then(work)
    tails.set(
      name,
      turn.catch(() => undefined),
    )
    return turn
  }
  return { seen, locks: { request } as unknown as LockManager }
}

/** Answers when it is told to. */
function heldTransport() {
  const open: (() => void)[] = []
  const seen = { most: 0, begun: 0 }
  const transport: Transport = {
    send() {
      seen.begun += 1
      return new Promise((resolve) => {
        seen.most = Math.max(
          seen.most,
          open.push(() => resolve(REPLY)),
        )
      })
    },
    endingOf: () => 'neverWhole',
    close: () => Promise.resolve(),
  }
  return { open, seen, transport }
}

const put = (at: number, signal = new AbortController().signal): TransportRequest => ({
  ...{ method: 'PUT', url: `http://storage.test/${at}`, headers: {}, signal },
})

test('passes a place from one request to the next without asking for it again', async () => {
  const { locks, seen: asked } = fakeLocks()
  const { open, seen, transport } = heldTransport()
  const sharing = sharingHosts(transport, locks)

  const sent = Array.from({ length: 30 }, (_, at) => sharing.send(put(at)))
  for (let answered = 0; answered < 30; answered += 1) {
    await expect.poll(() => open.length).toBeGreaterThan(0)
    open.shift()?.()
  }
  await Promise.all(sent)

  expect(seen).toEqual({ most: 5, begun: 30 })
  expect(asked.questions).toBe(5)
})

test('says that requests wait in it, and of each when its wait is over: none is timed for connecting before', async () => {
  const { locks } = fakeLocks()
  const { open, transport } = heldTransport()
  const sharing = sharingHosts(transport, locks)
  let started = 0
  const onStarted = (): void => void (started += 1)

  const sent = Array.from({ length: 6 }, (_, at) => sharing.send({ ...put(at), onStarted }))
  await expect.poll(() => open.length).toBe(5)

  expect([sharing.hasQueue, started]).toEqual([true, 5])
  open.shift()?.()
  await expect.poll(() => open.length).toBe(5)
  expect(started).toBe(6)
  for (const answer of open) answer()
  await Promise.all(sent)
})

test('gives its places back when it has nothing to send, so that another tab gets them', async () => {
  const { locks } = fakeLocks()
  const [one, other] = [heldTransport(), heldTransport()]
  const [tab, otherTab] = [sharingHosts(one.transport, locks), sharingHosts(other.transport, locks)]
  const first = Array.from({ length: 5 }, (_, at) => tab.send(put(at)))
  await expect.poll(() => one.open.length).toBe(5)
  const second = otherTab.send(put(5))
  expect(other.seen.begun).toBe(0)

  for (const answer of one.open.splice(0)) answer()
  await Promise.all(first)
  await expect.poll(() => other.open.length).toBe(1)
  other.open[0]?.()

  expect(await second).toEqual(REPLY)
})

test('fails no request that waits when one before it fails', async () => {
  const { locks } = fakeLocks()
  const { transport } = heldTransport()
  const send = ({ url }: TransportRequest): Promise<TransportReply> =>
    url.endsWith('/0') ? Promise.reject(new Error('reset')) : Promise.resolve(REPLY)
  const sharing = sharingHosts({ ...transport, send }, locks)

  const ends = await Promise.allSettled(Array.from({ length: 12 }, (_, at) => sharing.send(put(at))))

  expect(ends.map(({ status }) => status)).toEqual(['rejected', ...Array<string>(11).fill('fulfilled')])
})

/** As a host may write one: methods on a prototype, and a field that only they know. */
class ClassTransport implements Transport {
  readonly isProgressLive = false
  readonly #ended: string[] = []
  send(): Promise<TransportReply> {
    return Promise.resolve(REPLY)
  }
  endingOf(): 'neverWhole' {
    this.#ended.push('asked')
    return 'neverWhole'
  }
  close(): Promise<void> {
    this.#ended.push('closed')
    return Promise.resolve()
  }
  get ended(): readonly string[] {
    return this.#ended
  }
}

test.each([
  ['shares hosts', (transport: Transport) => sharingHosts(transport, fakeLocks().locks)],
  ['tells hidden answers', tellingHiddenAnswers],
])('what %s keeps the methods of a transport that is a class', async (_, wrap) => {
  const host = new ClassTransport()
  const transport = wrap(host)
  const request = put(1)

  expect(await transport.send(request)).toEqual(REPLY)
  expect([transport.endingOf(request), transport.isProgressLive]).toEqual(['neverWhole', false])
  await transport.close()

  expect(host.ended).toEqual(['asked', 'closed'])
})

test('ends a wait by the signal, and sends nothing of it', async () => {
  const { locks } = fakeLocks()
  const { open, seen, transport } = heldTransport()
  const sharing = sharingHosts(transport, locks)
  const sent = Array.from({ length: 5 }, (_, at) => sharing.send(put(at)))
  await expect.poll(() => open.length).toBe(5)
  const controller = new AbortController()
  const waiting = sharing.send(put(5, controller.signal))

  controller.abort(new Error('enough'))

  await expect(waiting).rejects.toThrow('enough')
  for (const answer of open.splice(0)) answer()
  await Promise.all(sent)
  expect(seen.begun).toBe(5)
})

const answersAtOnce: Transport = {
  send: () => Promise.resolve(REPLY),
  endingOf: () => 'neverWhole',
  close: () => Promise.resolve(),
}

test('keeps a place for what follows an answer in the same task', async () => {
  vi.stubGlobal('document', { visibilityState: 'visible' })
  const { locks, seen } = fakeLocks()
  const tab = sharingHosts(answersAtOnce, locks)

  for (let at = 0; at < 20; at += 1) await tab.send(put(at))

  expect(seen.questions).toBe(5)
})

test('goes on in that place at once: no turn of the page comes between', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.stubGlobal('document', { visibilityState: 'visible' })
  const { locks, seen } = fakeLocks()
  const tab = sharingHosts(answersAtOnce, locks)

  for (let at = 0; at < 20; at += 1) await tab.send(put(at))

  expect(seen.questions).toBe(5)
  expect(vi.getTimerCount()).toBeLessThanOrEqual(5)
})

test('waits for no timer in a hidden page: they are held back, and its places would keep other tabs waiting', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  vi.stubGlobal('document', { visibilityState: 'hidden' })
  const { locks } = fakeLocks()
  const [tab, otherTab] = [sharingHosts(answersAtOnce, locks), sharingHosts(answersAtOnce, locks)]

  for (let round = 0; round < 3; round += 1) {
    expect(await tab.send(put(round))).toEqual(REPLY)
    expect(await otherTab.send(put(round))).toEqual(REPLY)
  }
})

test('hands its places to another tab that waits after a second, although it has more to send', async () => {
  const { locks } = fakeLocks()
  const [one, other] = [heldTransport(), heldTransport()]
  const [tab, otherTab] = [sharingHosts(one.transport, locks), sharingHosts(other.transport, locks)]
  const first = Array.from({ length: 15 }, (_, at) => tab.send(put(at)))
  await expect.poll(() => one.open.length).toBe(5)
  const second = otherTab.send(put(15))

  for (const answer of one.open.splice(0)) answer()
  await expect.poll(() => one.open.length).toBe(5)
  expect(other.seen.begun).toBe(0)
  vi.advanceTimersByTime(1_001)
  for (const answer of one.open.splice(0)) answer()
  await expect.poll(() => other.open.length).toBe(1)
  other.open[0]?.()
  await second

  await expect.poll(() => one.open.length).toBe(5)
  for (const answer of one.open.splice(0)) answer()
  await Promise.all(first)
  expect(one.seen.most).toBe(5)
})

test('sends in places of its own where the browser refuses its locks, as in a worker of a page that may store nothing', async () => {
  const { locks } = fakeLocks(new Error('not in this document'))
  const { open, seen, transport } = heldTransport()
  const places = sharingHosts(transport, locks)
  const sent = Array.from({ length: 7 }, (_, at) => places.send(put(at)))

  await expect.poll(() => open.length).toBe(5)
  for (const answer of open.splice(0)) answer()
  await expect.poll(() => open.length).toBe(2)
  for (const answer of open.splice(0)) answer()
  await Promise.all(sent)
  expect(seen.most).toBe(5)
})
