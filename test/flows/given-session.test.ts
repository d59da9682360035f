// More files for a session that was there before. What it holds under their names is somebody else's, and is overwritten only where
// an earlier registration of our own may have been heard.

import { expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { TransportError } from '../../src/core/errors.ts'
import type { Journal } from '../../src/core/ports.ts'
import type { Upload } from '../../src/flows/upload.ts'
import type { UplinkOptions } from '../../src/uplink.ts'
import { createFarEnd, endOf, goodStorage, type Answer } from '../security/far-end.ts'
import { noWay, noWayBy } from './outage-rig.ts'

const GIVEN = { mocapTypeId: 2, sessionId: 'theirs' }
const files = [{ source: bytesSource('a.action', new Uint8Array(3)) }]
const PAGE = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' }
const ANSWER_LOST = new TransportError('ERR_UPLOAD_NETWORK', 'Lost', { phase: 'answer', ending: 'doubtful' })

/** A service whose session has the name already, and that is away for as long as `isAway`. */
function createTheirs(
  journal: Journal = memoryJournal(),
  lost: () => Answer | Error = noWay,
  options: Partial<UplinkOptions> = {},
) {
  const state = { isAway: false, overwrites: 0 }
  const service = (_request: unknown, body: Uint8Array): Answer | Error => {
    if (state.isAway) return lost()
    const { reprocess } = JSON.parse(new TextDecoder().decode(body)) as { readonly reprocess: boolean }
    if (!reprocess) return { status: 409, body: { message: 'It has that name.' } }
    state.overwrites += 1
    return { status: 200, body: { 'a.action': 'https://store.example/k' } }
  }
  const more = { isFirstContactAwaited: true, ...options }
  return { state, journal, ...createFarEnd({ service, storage: goodStorage, journal, ...more }) }
}

type Theirs = ReturnType<typeof createTheirs>

/** Begins while the service is away, and waits for it. */
async function waiting({ uplink, clock, state }: Theirs) {
  state.isAway = true
  const upload = uplink.uploadCaptures({ ...GIVEN, files })
  await clock.advance(30_000)
  expect(upload.state).toBe('waiting')
  return upload
}

/** How it ends that was paused while the service was away, and goes on when the service is back. */
async function endAfterPause({ clock, settled, state }: Theirs, upload: Upload) {
  upload.pause()
  await clock.advance(60_000)
  expect(upload.state).toBe('paused')
  state.isAway = false
  upload.resume()
  return settled(endOf(upload))
}

/** How a later life ends, when the service is back. */
async function endOfResume({ uplink, settled, state }: Theirs, key: string) {
  state.isAway = false
  return settled(uplink.resume(key, { source: () => files[0]!.source }).then(endOf))
}

it.each([
  ['was paused while the service was away', 'pause'],
  ['was let go while the service was away', 'close'],
  ['gave the service up, which was away', 'wait'],
] as const)('overwrites nothing of a session that an upload never reached that %s', async (_, how) => {
  const journal = memoryJournal()
  const rig = createTheirs(journal)
  const upload = await waiting(rig)
  let end: Awaited<ReturnType<typeof endOf>>
  if (how === 'pause') end = await endAfterPause(rig, upload)
  else {
    const ended = endOf(upload)
    await rig.settled<unknown>(how === 'close' ? rig.uplink.close() : ended)
    const again = how === 'close' ? { ...rig, ...createTheirs(journal) } : rig
    end = await endOfResume(again, upload.key)
    expect(again.state.overwrites).toBe(0)
  }

  expect(end.error).toMatchObject({ report: { files: [{ error: { status: 409 } }] } })
  expect(rig.state.overwrites).toBe(0)
})

it('overwrites nothing for an upload that is paused as soon as its first try has reached nobody', async () => {
  const rig = createTheirs(memoryJournal(), () => noWayBy('ECONNREFUSED'))
  rig.state.isAway = true
  const upload = rig.uplink.uploadCaptures({ ...GIVEN, files })
  await rig.clock.advance(1)
  expect([upload.state, rig.requests.length]).toEqual(['uploading', 1])

  expect((await endAfterPause(rig, upload)).error).toMatchObject({ report: { files: [{ error: { status: 409 } }] } })
  expect(rig.state.overwrites).toBe(0)
})

it('overwrites nothing for an upload that is paused while its key is still asked for', async () => {
  let give: (key: string) => void = () => undefined
  const key = new Promise<string>((resolve) => (give = resolve))
  const rig = createTheirs(memoryJournal(), noWay, { credentials: { apiKey: () => key } })
  const upload = rig.uplink.uploadCaptures({ ...GIVEN, files })
  await rig.clock.advance(1_000)
  expect([upload.state, rig.requests.length]).toEqual(['uploading', 0])
  upload.pause()
  await rig.clock.advance(1_000)
  give('key-of-the-tests')
  upload.resume()

  expect((await rig.settled(endOf(upload))).error).toMatchObject({ report: { files: [{ error: { status: 409 } }] } })
  expect(rig.state.overwrites).toBe(0)
})

it('overwrites nothing for an upload that was paused before its names were sent', async () => {
  const kept = memoryJournal()
  let pause = (): void => undefined
  const journal: Journal = {
    ...kept,
    async open(key) {
      const session = await kept.open(key)
      return {
        ...session,
        append(records) {
          if (records.some(({ type }) => type === 'files.registering')) pause()
          return session.append(records)
        },
      }
    },
  }
  const rig = createTheirs(journal)
  const upload = rig.uplink.uploadCaptures({ ...GIVEN, files })
  pause = () => {
    pause = () => undefined
    upload.pause()
  }
  await rig.clock.advance(10_000)
  expect(upload.state).toBe('paused')
  upload.resume()

  expect((await rig.settled(endOf(upload))).error).toMatchObject({ report: { files: [{ error: { status: 409 } }] } })
  expect(rig.state.overwrites).toBe(0)
})

it.each([[['a.action']], [['a.action', 'b.action']]])(
  'overwrites nothing after a sign-in page has answered for the service (%j)',
  async (names) => {
    const rig = createTheirs(memoryJournal(), () => {
      rig.state.isAway = false
      return PAGE
    })
    rig.state.isAway = true
    const sources = names.map((name) => bytesSource(name, new Uint8Array(3)))
    const upload = rig.uplink.uploadCaptures({ ...GIVEN, files: sources.map((source) => ({ source })) })
    await rig.settled(endOf(upload))
    const resumed = rig.uplink.resume(upload.key, { source: ({ fileIndex }) => sources[fileIndex]! })
    const { error } = await rig.settled(resumed.then(endOf))

    expect(error).toMatchObject({ report: { files: names.map((name) => ({ name, error: { status: 409 } })) } })
    expect(rig.state.overwrites).toBe(0)
  },
)

it('takes a name for its own where a page came only after an answer to its registration was lost', async () => {
  const answers = [ANSWER_LOST, PAGE]
  const rig = createTheirs(memoryJournal(), () => answers.shift()!)
  rig.state.isAway = true
  const upload = rig.uplink.uploadCaptures({ ...GIVEN, files })
  await rig.settled(endOf(upload))

  expect((await endOfResume(rig, upload.key)).report).toMatchObject({ status: 'confirmed' })
})

it('takes a name for its own where a registration of it may have been heard', async () => {
  const rig = createTheirs(memoryJournal(), () => ANSWER_LOST)
  const { report } = await endAfterPause(rig, await waiting(rig))

  expect(report).toMatchObject({ status: 'confirmed' })
  expect(rig.state.overwrites).toBe(1)
})

it.each([
  ['paused while the service was away', 'pause'],
  ['gave the service up, which was away', 'wait'],
] as const)('takes a name for its own that it was told of after a lost answer, and then %s', async (_, how) => {
  const answers: (Answer | Error)[] = [ANSWER_LOST, { status: 409, body: { message: 'It has that name.' } }]
  const rig = createTheirs(memoryJournal(), () => answers.shift() ?? noWay())
  const upload = await waiting(rig)
  expect(answers).toEqual([])
  let end: Awaited<ReturnType<typeof endOf>>
  if (how === 'pause') end = await endAfterPause(rig, upload)
  else {
    await rig.settled(endOf(upload))
    end = await endOfResume(rig, upload.key)
  }

  expect(end.report).toMatchObject({ status: 'confirmed' })
  expect(rig.state.overwrites).toBe(1)
})

it('takes its own names back that came to the service in the very moment of a pause, whose answer lacked one of them', async () => {
  const two = ['a.action', 'b.action'].map((name) => ({ source: bytesSource(name, new Uint8Array(3)) }))
  const known = new Set<string>()
  let pause = (): void => undefined
  const service = (_request: unknown, body: Uint8Array): Answer => {
    const asked = JSON.parse(new TextDecoder().decode(body)) as { filenames: string[]; reprocess: boolean }
    if (!asked.reprocess && asked.filenames.some((name) => known.has(name))) return { status: 409 }
    const given = known.size > 0 ? asked.filenames : asked.filenames.slice(1)
    asked.filenames.forEach((name) => known.add(name))
    pause()
    return { status: 200, body: Object.fromEntries(given.map((name) => [name, `https://store.example/${name}`])) }
  }
  const rig = createFarEnd({ service, storage: goodStorage })
  const upload = rig.uplink.uploadCaptures({ ...GIVEN, files: two })
  pause = () => {
    pause = () => undefined
    queueMicrotask(() => upload.pause())
  }
  await rig.clock.advance(1_000)
  expect(upload.state).toBe('paused')
  upload.resume()

  expect((await rig.settled(endOf(upload))).report?.status).toBe('confirmed')
})
