// Who waits for a descriptor, who goes first when one is closed, and who is told that there is none, on a system with few of them.

import { openSync } from 'node:fs'
import { devNull } from 'node:os'
import { describe, expect, it } from 'vitest'

import {
  createDescriptors,
  wantOfDescriptors,
  type DescriptorUse,
  type DescriptorWait,
} from '../../../src/adapters/node/descriptors.ts'
import { passTurns } from '../../helpers/pass-turns.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

describe('what the system refuses', () => {
  it.each(['EMFILE', 'ENFILE'])('waits until something of ours is closed: %s', async (code) => {
    const { open, close, opened } = machine({ room: 1, code })

    open('file', 'a')
    open('file', 'b')
    await passTurns(50)
    expect(opened).toEqual(['a'])
    close('file')
    await passTurns(50)

    expect(opened).toEqual(['a', 'b'])
  })

  it('is opened in the order of what else would stop: journal, call, part, file', async () => {
    const { open, close, opened } = machine({ room: 1 })
    open('part', 'first')
    await passTurns(50)

    for (const use of ['file', 'part', 'journal', 'call'] as const) open(use, use)
    for (let step = 0; step < 4; step += 1) {
      await passTurns(50)
      close('connection')
    }
    await passTurns(50)

    expect(opened).toEqual(['first', 'journal', 'call', 'part', 'file'])
  })

  it('does not let others pass who come later', async () => {
    const { open, close, opened } = machine({ room: 1 })
    open('file', 'a')
    open('file', 'b')

    close('file')
    open('file', 'c')
    await passTurns(50)

    expect(opened).toEqual(['a', 'b'])
  })

  it('is an error at once where nothing of ours will be closed, or for another reason', async () => {
    const { open, errors } = machine({ room: 0 })

    expect(() => open('file', 'a')).toThrow('EMFILE')
    open('journal', 'b')
    open('part', 'c')
    await passTurns(50)
    expect(errors).toEqual(['b: EMFILE', 'c: EMFILE'])

    const other = machine({ room: 1, code: 'EACCES' })
    other.open('file', 'a')
    expect(() => other.open('file', 'b')).toThrow('EACCES')
  })

  it('is recognized in what was made of it: a cause, or one of several errors', async () => {
    const { descriptors } = machine({ room: 1 })
    const hasClosed = descriptors.opened('file')
    let isRefused = true
    const cause = Object.assign(new Error('none left'), { code: 'EMFILE' })
    const thrown = new Error('cannot be read', { cause: new AggregateError([new Error('no route'), cause]) })

    const opening = descriptors.patiently('file', () => {
      if (isRefused) throw thrown
      return 'open'
    })
    isRefused = false
    hasClosed()

    expect(await opening).toBe('open')
  })

  it('is given up after 12 h in which nothing was closed', async () => {
    const { open, clock, errors } = machine({ room: 1 })
    open('file', 'a')
    open('file', 'b')

    await clock.advance(43_199_000)
    expect(errors).toEqual([])
    await clock.advance(1_000)

    expect(errors).toEqual(['b: EMFILE'])
    expect(clock.pending).toBe(0)
  })
})

describe('a connection', () => {
  it.each(['part', 'call'] as const)(
    'of a %s waits for other connections only: all who hold files may want one',
    async (use) => {
      const { open, close, errors, opened } = machine({ room: 3 })
      for (const name of ['a', 'b', 'c']) open('file', name)

      for (const name of ['of a', 'of b', 'of c']) open(use, name)
      await passTurns(50)
      expect(errors).toEqual(['of c: EMFILE'])
      close('file')
      await passTurns(50)

      expect(opened).toEqual(['a', 'b', 'c', 'of a'])
      close('connection')
      await passTurns(50)
      expect(opened.at(-1)).toBe('of b')
    },
  )

  it('does not wait for one that is closed again', async () => {
    const { open, close, errors } = machine({ room: 1 })
    open('part', 'a')
    await passTurns(50)
    close('connection')
    open('file', 'b')

    open('part', 'c')
    await passTurns(50)

    expect(errors).toEqual(['c: EMFILE'])
  })

  it('is told every second that it waits, and given up one at a time when no connection is left', async () => {
    const { open, clock, errors } = machine({ room: 1 })
    let told = 0
    open('file', 'a')
    for (const name of ['b', 'c', 'd']) open('part', name, { onWait: () => (told += 1) })
    await passTurns(50)
    expect(errors).toEqual(['d: EMFILE'])

    told = 0
    await clock.advance(1_000)
    expect(told).toBeGreaterThanOrEqual(2)
    expect(errors).toEqual(['d: EMFILE', 'b: EMFILE'])
    await clock.advance(1_000)

    expect(errors).toEqual(['d: EMFILE', 'b: EMFILE', 'c: EMFILE'])
  })

  it('is given up even behind files of the journal, which wait for the files of all who want one', async () => {
    const { open, close, clock, errors, opened } = machine({ room: 2 })
    open('file', 'a')
    open('file', 'b')
    open('journal', 'j')
    open('journal', 'k')
    await passTurns(50)
    open('part', 'of a')
    open('part', 'of b')

    await clock.advance(1_000)
    expect(errors).toEqual(['of a: EMFILE'])
    close('file')
    await passTurns(50)

    expect(opened).toEqual(['a', 'b', 'j', 'k', 'of b'])
  })

  it('is not told that it waits while it is being made: the host may never answer', async () => {
    const { descriptors, close, clock, opened, open } = machine({ room: 1 })
    let told = 0
    let isRefused = true
    open('part', 'a')
    const connect = (): Promise<unknown> =>
      isRefused ? Promise.reject(Object.assign(new Error('EMFILE'), { code: 'EMFILE' })) : new Promise(() => undefined)
    void descriptors.patiently('part', connect, { onWait: () => (told += 1) })
    open('part', 'c')
    await passTurns(50)
    expect(opened).toEqual(['a'])

    isRefused = false
    close('connection')
    await passTurns(50)
    told = 0
    await clock.advance(60_000)

    expect(told).toBe(0)
  })

  it('stops waiting with its signal, and the next one goes', async () => {
    const { open, close, clock, errors, opened } = machine({ room: 1 })
    const controller = new AbortController()
    open('part', 'a')
    open('part', 'b', { signal: controller.signal })
    open('part', 'c')
    await passTurns(50)

    controller.abort(new Error('paused'))
    await passTurns(50)
    close('connection')
    await passTurns(50)

    expect(errors).toEqual(['b: paused'])
    expect(opened).toEqual(['a', 'c'])
    await clock.advance(1_000)
    expect(clock.pending).toBe(0)
  })
})

describe('a connection that is idle', () => {
  it('stays where only a file waits, for which the part that had it closes its own', async () => {
    const { open, descriptors, opened } = machine({ room: 1 })
    open('part', 'a')
    await passTurns(50)
    open('file', 'b')

    expect(descriptors.idle({})).toBe(false)
    open('call', 'c')
    await passTurns(50)
    expect(descriptors.idle({})).toBe(true)

    expect(opened).toEqual(['a'])
  })

  it('stays where it is the last one that is not being closed, however many files are refused at once', async () => {
    const { open, descriptors } = machine({ room: 1 })
    open('file', 'a')
    const closed: string[] = []
    for (const name of ['first', 'last'])
      descriptors.opened('connection', () => !closed.includes(name) && closed.push(name) > 0)
    const refused = () => Promise.reject(Object.assign(new Error('none left'), { code: 'EMFILE' }))

    for (let file = 0; file < 2; file += 1) void descriptors.patiently('file', refused)
    await passTurns(50)

    expect(closed).toEqual(['first'])
  })

  it('is not asked to give way once it is closed', async () => {
    const { open, descriptors } = machine({ room: 1 })
    open('part', 'a')
    await passTurns(50)
    const asked: string[] = []
    const giveUp = (name: string) => () => asked.push(name) === 0
    const hasClosed = descriptors.opened('connection', giveUp('closed'))
    descriptors.opened('connection', giveUp('open'))

    hasClosed()
    open('call', 'b')
    await passTurns(50)

    expect(asked).toEqual(['open'])
  })
})

it('notices within a second what others have closed, and lets all go for whom there is room', async () => {
  const { open, clock, opened, room } = machine({ room: 1 })
  open('file', 'a')
  for (const name of ['b', 'c', 'd']) open('file', name)

  room(3)
  await clock.advance(1_000)

  expect(opened).toEqual(['a', 'b', 'c', 'd'])
})

it.each(['ENOTFOUND', 'EAI_AGAIN'])('is known in a name that is not found for want of descriptors: %s', (code) => {
  const notFound = Object.assign(new Error('no such name'), { code })
  const none = Object.assign(new Error('none left'), { code: 'EMFILE' })
  const openedNow: number[] = []
  const openOne = (most: number) => () => {
    if (openedNow.length === most) throw none
    openedNow.push(openSync(devNull, 'r'))
    return openedNow.at(-1)!
  }

  expect(wantOfDescriptors(notFound, openOne(0))).toBe(none)
  expect(wantOfDescriptors(notFound, openOne(1))).toBe(none)
  expect(wantOfDescriptors(notFound)).toBeUndefined()
  expect(wantOfDescriptors(new Error('refused'), openOne(1))).toBeUndefined()
})

function machine(system: { room: number; readonly code?: string }) {
  const clock = createSimulatedClock()
  const descriptors = createDescriptors(clock)
  const opened: string[] = []
  const errors: string[] = []
  const closings: Record<'file' | 'connection', (() => void)[]> = { file: [], connection: [] }
  const kindOf = (use: DescriptorUse): 'file' | 'connection' | undefined =>
    use === 'journal' ? undefined : use === 'file' ? 'file' : 'connection'
  const take = (use: DescriptorUse, name: string): void => {
    const { code = 'EMFILE' } = system
    if (system.room === 0) throw Object.assign(new Error(code), { code })
    system.room -= 1
    opened.push(name)
    const kind = kindOf(use)
    if (kind !== undefined) closings[kind].push(descriptors.opened(kind))
    // A journal's file is closed again at once.
    else system.room += 1
  }
  return {
    clock,
    descriptors,
    opened,
    errors,
    room: (more: number) => void (system.room += more),
    /** Files are opened on the calling thread, the rest is not known before the next turn. */
    open(use: DescriptorUse, name: string, wait?: DescriptorWait) {
      const work = use === 'file' ? () => take(use, name) : async () => Promise.resolve().then(() => take(use, name))
      const opening = descriptors.patiently<unknown>(use, work, wait) as Promise<unknown> | undefined
      opening?.catch((error: unknown) => void errors.push(`${name}: ${(error as Error).message}`))
    },
    close(kind: 'file' | 'connection') {
      system.room += 1
      closings[kind].shift()?.()
    },
  }
}
