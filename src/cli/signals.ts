// Ctrl-C, SIGTERM and SIGHUP: the first signal asks the command to stop cleanly, the second ends the process at once. Only a
// second SIGHUP after a first is ignored.

import { basename } from 'node:path'
import { isatty } from 'node:tty'
import { SIGNAL_EXIT, type StopSignal } from './exit-codes.ts'

export interface Interruption {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal
  /** The first signal. Undefined until there was one. */
  readonly reason: StopSignal | undefined
  /** Settles at the first signal. */
  readonly happened: Promise<StopSignal>
  /** Registers what runs before the process ends at once, such as showing the terminal's cursor again. The newest runs first. */
  atOnce(cleanUp: () => void): void
  /**
   * Ends the process. After SIGHUP on a terminal, the process ends by that signal itself, which a shell sees as the same exit code:
   * in a normal exit, Node (20 to 24) resets the terminal, and aborts with a core dump if that was closed.
   */
  end(exitCode: number): void
}

/** Listens to the signals of this process until it ends. */
export function listenForSignals(): Interruption {
  const stop = new AbortController()
  // Asked at the start, because a terminal that has been closed is no longer one.
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
  // Node undoes at its start what nohup has set. The only trace of nohup is `_`, in which bash and zsh put the command called.
  const isHangUpIgnored = basename(process.env['_'] ?? '') === 'nohup'
  for (const name of Object.keys(SIGNAL_EXIT) as StopSignal[]) {
    process.on(name, () => {
      if (name === 'SIGHUP' && isHangUpIgnored) return
      // A closed terminal is signalled twice: by the system and by the shell.
      if (name === 'SIGHUP' && reason === name) return
      if (reason === undefined) {
        reason = name
        tell(name)
        stop.abort()
        return
      }
      for (const cleanUp of cleanUps.toReversed()) cleanUp()
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
