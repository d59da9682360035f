// Ctrl-Z, `fg`, `bg` and `&`: before the process stops, the terminal is given back as it was. What is shown live goes on below what
// the shell has printed meanwhile, and only while the terminal is this process's.

import { readFileSync } from 'node:fs'

/**
 * After this time, ms, the process runs again or was never stopped: the system stops no process that no shell could continue. While
 * it is stopped, no time passes for it.
 */
const BACK_AFTER_MS = 100

/** Calls `leave` before the process is stopped from the terminal, and `comeBack` when it runs again. Returns what ends this. */
export function onJobStop(leave: () => void, comeBack: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    leave()
    // Without a listener the system does what it does by default.
    process.off('SIGTSTP', stop)
    process.kill(process.pid, 'SIGTSTP')
    timer = setTimeout(() => {
      process.on('SIGTSTP', stop)
      learnSize()
      comeBack()
    }, BACK_AFTER_MS)
  }
  process.on('SIGTSTP', stop)
  process.on('SIGCONT', learnSize)
  return () => {
    clearTimeout(timer)
    process.off('SIGTSTP', stop)
    process.off('SIGCONT', learnSize)
  }
}

/** Only the job that has the terminal is told when that is resized. Node asks for its size upon this event alone. */
function learnSize(): void {
  process.emit('SIGWINCH', 'SIGWINCH')
}

/** Whether the shell, or another of its jobs, has the terminal now. Only Linux tells this without a call into C; elsewhere false. */
export function isInBackground(readState = () => readFileSync('/proc/self/stat', 'latin1')): boolean {
  try {
    // The name of the program is in parentheses, and may hold anything.
    const [, , , group, , terminal, groupAtTerminal] = readState().replace(/^.*\)/s, '').split(' ')
    return terminal !== '0' && Number(groupAtTerminal) > 0 && groupAtTerminal !== group
  } catch {
    return false
  }
}
