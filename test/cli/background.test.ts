// --background: this process steps back, and the engine is told to.

import type * as os from 'node:os'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { lowerPriority } from '../../src/cli/low-priority.ts'
import { engineChoices } from '../../src/cli/options/options.ts'
import { uplinkFromOptions } from '../../src/cli/options/uplink-from-options.ts'
import type { Interruption } from '../../src/cli/signals.ts'

const system = vi.hoisted(() => ({ priority: 0, isForbidden: false, set: [] as [number, number][] }))

// The priority of the process that runs the tests must stay what it is: without privileges it could not be raised again.
vi.mock('node:os', async (importOriginal) => {
  const real = await importOriginal<typeof os>()
  const faked = {
    getPriority: () => system.priority,
    setPriority(id: number, priority: number) {
      if (system.isForbidden) throw new Error('EACCES')
      system.set.push([id, priority])
    },
  }
  return { ...real, ...faked, default: { ...real, ...faked } }
})

afterEach(() => {
  Object.assign(system, { priority: 0, isForbidden: false, set: [] })
})

describe('lowerPriority', () => {
  it('lowers the process, and on Linux each of its threads', async () => {
    await lowerPriority()

    const ids = system.set.map(([id]) => id)
    expect(ids[0]).toBe(0)
    expect(new Set(system.set.map(([, priority]) => priority))).toEqual(new Set([10]))
    if (process.platform === 'linux') expect(ids).toContain(process.pid)
  })

  it('never raises what is lower already', async () => {
    system.priority = 19

    await lowerPriority()

    expect(system.set).toEqual([])
  })

  it('goes on where the system forbids it', async () => {
    system.isForbidden = true

    await expect(lowerPriority()).resolves.toBe(undefined)
  })
})

describe('--background', () => {
  const env = { MOCAP_BASE_URL: 'https://service.example', MOCAP_API_KEY: 'key' }
  const interruption = { signal: new AbortController().signal } as Interruption

  it('asks the engine to yield to everything else on the line', () => {
    expect(engineChoices({ background: true })).toMatchObject({ isBackground: true })
    expect(engineChoices({})).not.toHaveProperty('isBackground', true)
  })

  it('lowers the priority of the process', async () => {
    const uplink = await uplinkFromOptions({ background: true }, { env, interruption })
    await uplink.close()

    expect(system.set.length).toBeGreaterThan(0)
  })

  it('leaves it alone when it was not asked for', async () => {
    const uplink = await uplinkFromOptions({}, { env, interruption })
    await uplink.close()

    expect(system.set).toEqual([])
  })
})
