// Lets every other program of the workstation go first, as `nice` does: for --background.

import { readdir } from 'node:fs/promises'
import { constants, getPriority, setPriority } from 'node:os'

const { PRIORITY_BELOW_NORMAL } = constants.priority

/**
 * Lowers the priority of this process, with the threads that it has and those that it starts later. Never raises it. If the
 * system does not allow that, the priority stays: an upload at full priority is better than none.
 */
export async function lowerPriority(): Promise<void> {
  // On Linux each thread has a priority of its own, which the threads that it starts inherit. Elsewhere the process has one.
  const ids = process.platform === 'linux' ? await threadIds() : []
  for (const id of [0, ...ids]) {
    try {
      if (getPriority(id) < PRIORITY_BELOW_NORMAL) setPriority(id, PRIORITY_BELOW_NORMAL)
    } catch {
      // A thread that has ended meanwhile, or a system that forbids it.
    }
  }
}

async function threadIds(): Promise<number[]> {
  try {
    return (await readdir('/proc/self/task')).map(Number)
  } catch {
    return []
  }
}
