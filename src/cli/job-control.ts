// Ctrl-Z and `fg`: before the process stops, the terminal is given back as it was, and what is shown live goes on below what the
// shell has printed meanwhile.

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
      comeBack()
    }, BACK_AFTER_MS)
  }
  process.on('SIGTSTP', stop)
  return () => {
    clearTimeout(timer)
    process.off('SIGTSTP', stop)
  }
}
