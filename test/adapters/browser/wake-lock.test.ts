// The screen stays on while something uploads: one lock for all who hold it, asked for again when the platform took it.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createWaking, type Waking } from '../../../src/adapters/browser/wake-lock.ts'

interface Screen {
  /** Locks that are held now. */
  locks: number
  asked: number
  refuses: boolean
}

let screen: Screen
let page: EventTarget & { visibilityState: 'visible' | 'hidden' }

beforeEach(() => {
  screen = { locks: 0, asked: 0, refuses: false }
  page = Object.assign(new EventTarget(), { visibilityState: 'visible' as const })
  vi.stubGlobal('document', page)
  vi.stubGlobal('navigator', { wakeLock: { request } })
})
afterEach(() => void vi.unstubAllGlobals())

function request(): Promise<{ release(): Promise<void> }> {
  screen.asked += 1
  if (screen.refuses) return Promise.reject(new Error('low battery'))
  screen.locks += 1
  let isHeld = true
  const release = () => {
    if (isHeld) screen.locks -= 1
    isHeld = false
    return Promise.resolve()
  }
  page.addEventListener('visibilitychange', () => {
    // The platform takes the lock back from a page that is hidden.
    if (page.visibilityState === 'hidden') void release()
  })
  return Promise.resolve({ release })
}

/** The page is hidden or shown, and all that follows from it has happened. */
async function turn(state: 'visible' | 'hidden'): Promise<void> {
  page.visibilityState = state
  page.dispatchEvent(new Event('visibilitychange'))
  await settled()
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const [upload, another] = [{}, {}]

async function holding(): Promise<Waking> {
  const waking = createWaking()
  waking.tell(upload, true)
  await settled()
  return waking
}

describe('the screen', () => {
  it('stays on until the last of several uploads has ended, however often one says so', async () => {
    const waking = await holding()
    waking.tell(another, true)
    waking.tell(upload, true)

    waking.tell(upload, false)
    waking.tell(upload, false)
    await settled()
    expect(screen.locks).toBe(1)
    waking.tell(another, false)
    await settled()

    expect(screen).toMatchObject({ locks: 0, asked: 1 })
  })

  it('is asked for again when the page is shown, and no more when nothing uploads', async () => {
    const waking = await holding()

    await turn('hidden')
    expect(screen.locks).toBe(0)
    await turn('visible')
    expect(screen.locks).toBe(1)
    waking.tell(upload, false)
    await settled()
    await turn('hidden')
    await turn('visible')

    expect(screen).toMatchObject({ locks: 0, asked: 2 })
  })

  it('is let go also when the upload ended before the platform had answered', async () => {
    const waking = createWaking()
    waking.tell(upload, true)
    waking.tell(upload, false)
    await settled()

    expect(screen).toMatchObject({ locks: 0, asked: 1 })
  })

  it('may be refused: the upload goes on, and the next showing asks again', async () => {
    screen.refuses = true
    await holding()
    screen.refuses = false

    await turn('visible')

    expect(screen).toMatchObject({ locks: 1, asked: 2 })
  })

  it('is left alone where the platform has no such thing', () => {
    vi.stubGlobal('navigator', {})

    const waking = createWaking()
    expect(() => [true, false].forEach((is) => waking.tell(upload, is))).not.toThrow()
  })
})
