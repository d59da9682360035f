// Ctrl-C, SIGTERM and SIGHUP: the first signal asks the command to stop cleanly, the second ends the process at once. Only a
// second SIGHUP after a first is ignored.

import { basename } from 'node:path'
import { isatty } from 'node:tty'
import { SIGNAL_EXIT, type StopSignal } from './exit-codes.ts'

const SIGNALS = Object.keys(SIGNAL_EXIT) as StopSignal[]

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
   * Ends the process. With the exit code of a signal it ends by that signal itself, which a shell sees as the same code, where a
   * normal exit is of no use: after SIGHUP on a terminal, because Node (20 to 24) resets the terminal and aborts with a core dump if
   * that was closed; and while a thread waits for a disk or a name server, because Node waits for the thread, and a drive that is gone
   * may never answer.
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
    const name = SIGNALS.find((each) => SIGNAL_EXIT[each] === exitCode)
    if (name === undefined || !(hasThreadAway() || (name === 'SIGHUP' && hasTerminal))) process.exit(exitCode)
    process.removeAllListeners(name)
    process.kill(process.pid, name)
  }
  // Node undoes at its start what nohup has set. The only trace of nohup is `_`, in which bash and zsh put the command called.
  const isHangUpIgnored = basename(process.env['_'] ?? '') === 'nohup'
  for (const name of SIGNALS) {
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

/** Whether one of Node's threads waits for the system. On Windows a process cannot end by a signal. */
function hasThreadAway(): boolean {
  return (
    process.platform !== 'win32' && process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo)/.test(name))
  )
}
