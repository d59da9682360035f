// Ctrl-C, SIGTERM and SIGHUP: the first asks the command to stop cleanly, the second ends the process at once, but for a
// hang-up that is told twice.

import { basename } from 'node:path'
import { isatty } from 'node:tty'
import { SIGNAL_EXIT, type StopSignal } from './exit-codes.ts'

export interface Interruption {
  /** Aborted at the first signal. */
  readonly signal: AbortSignal
  /** The first signal, once there was one. */
  readonly reason: StopSignal | undefined
  /** Settles at the first signal. */
  readonly happened: Promise<StopSignal>
  /** Runs before the process ends at once, such as to give the terminal its cursor back. */
  atOnce(cleanUp: () => void): void
  /**
   * Ends the process. After SIGHUP on a terminal it ends as that signal ends programs, which is the same exit code to a shell: at
   * its own end Node (20 to 24) sets the terminal back, and aborts with a dump where it was closed.
   */
  end(exitCode: number): void
}

/** Listens to the signals of this process until it ends. */
export function listenForSignals(): Interruption {
  const stop = new AbortController()
  // One that was closed is none any more.
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd))
  const cleanUps: (() => void)[] = []
  let reason: StopSignal | undefined
  let tell: (signal: StopSignal) => void = () => undefined
  const happened = new Promise<StopSignal>((resolve) => (tell = resolve))
  const end = (exitCode: number): void => {
    if (!hasTerminal || exitCode !== SIGNAL_EXIT.SIGHUP) process.exit(exitCode)
    process.removeAllListeners('SIGHUP')
    process.kill(process.pid, 'SIGHUP')
  }
  // Node takes back at its start what nohup has set, and leaves no trace of it but what bash and zsh say of who was called.
  const isHangUpIgnored = basename(process.env['_'] ?? '') === 'nohup'
  for (const name of Object.keys(SIGNAL_EXIT) as StopSignal[]) {
    process.on(name, () => {
      if (name === 'SIGHUP' && isHangUpIgnored) return
      // The system tells of a closed terminal, and the shell does.
      if (name === 'SIGHUP' && reason === name) return
      if (reason === undefined) {
        reason = name
        tell(name)
        stop.abort()
        return
      }
      for (const cleanUp of cleanUps) cleanUp()
      end(SIGNAL_EXIT[name])
    })
  }
  return {
    signal: stop.signal,
    get reason() {
      return reason
    },
    happened,
    atOnce: (cleanUp) => void cleanUps.push(cleanUp),
    end,
  }
}
