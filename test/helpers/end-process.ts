// Ends a program that a test started, by its own process id.

import type { ChildProcess } from 'node:child_process'

const END_WITHIN_MS = 15_000

/**
 * Sends the signal `ask`, and SIGKILL if the process has not ended within 15 s. Settles when it is gone. Does nothing if it was already.
 */
export async function endProcess(child: ChildProcess | undefined, ask: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(ask)
  const force = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS)
  await ended
  clearTimeout(force)
}
