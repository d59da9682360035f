// Lets a test say when a service sweeps. It does so by a timer, ten minutes after its start at the earliest.

import { vi } from 'vitest'

const SWEEP_EVERY_MS = 600_000

/** Starts a service; `sweep` is what its timer calls. */
export async function startWithSweep<T>(start: () => Promise<T>): Promise<{ service: T; sweep: () => void }> {
  const began = vi.spyOn(globalThis, 'setInterval')
  try {
    const service = await start()
    const [sweep] = began.mock.calls.find(([, everyMs]) => everyMs === SWEEP_EVERY_MS) ?? []
    if (sweep === undefined) throw new Error('The service has no timer to sweep by.')
    return { service, sweep }
  } finally {
    began.mockRestore()
  }
}
