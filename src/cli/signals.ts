// Ctrl-C, SIGTERM and SIGHUP: the first signal asks the command to stop cleanly, the second ends the process at once. What comes
// right behind a signal of its kind is the same one, passed on by another program, and so is every SIGHUP after a first.

import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'
import { isatty } from 'node:tty'
import { SIGNAL_EXIT, type StopSignal } from './exit-codes.ts'

/** A name server's own time limits are over before that, ms. */
const FREE_WITHIN_MS = 60_000
const TOLD_AFTER_MS = 1_000
const LOOK_AGAIN_MS = 50
/**
 * Ctrl-C goes to all programs of the terminal's job, and some of them pass it on: npm to what it runs by npx, and `timeout`
 * signals its command twice. Nobody has read within this time, ms, that a second Ctrl-C stops at once.
 */
const PASSED_ON_WITHIN_MS = 500
const SILENT = 'A drive or a name server does not answer.'
const SIGNALS = Object.keys(SIGNAL_EXIT) as StopSignal[]

export interface Interruption {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal
  /** The first signal. Undefined until there was one. */
  readonly reason: StopSignal | undefined
  /** Settles at the first signal. */
  readonly happened: Promise<StopSignal>
  /**
   * Registers what runs before the process ends at once, by a second signal or an error that nobody caught, such as showing the
   * terminal's cursor again. The newest runs first. Returns what takes it back.
   */
  atOnce(cleanUp: () => void): () => void
  /**
   * Ends the process, once what is registered has run. With the exit code of a signal it ends by that signal itself, which a shell
   * sees as the same code, where a normal exit is of no use: after SIGHUP on a terminal, because Node (20 to 24) resets the terminal
   * and aborts with a core dump if that was closed; and while a thread waits for a disk or a name server, because Node waits for the
   * thread, and a drive that is gone may never answer. With another exit code it waits for such a thread for up to a minute, which
   * `tell` hears of; then it is killed. Any signal ends that wait.
   */
  end(exitCode: number, tell: (text: string) => void): void
}

/** Listens to the signals of this process until it ends. */
export function listenForSignals(): Interruption {
  const stop = new AbortController()
  // Asked at the start, because a terminal that has been closed is no longer one.
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd))
  const cleanUps = new Set<() => void>()
  let reason: StopSignal | undefined
  let firstAtMs = 0
  let tell: (signal: StopSignal) => void = () => undefined
  const happened = new Promise<StopSignal>((resolve) => (tell = resolve))
  const end: Interruption['end'] = (exitCode, tell) => {
    const due = [...cleanUps].toReversed()
    cleanUps.clear()
    for (const cleanUp of due) cleanUp()
    const name = SIGNALS.find((each) => SIGNAL_EXIT[each] === exitCode)
    if (name === undefined) {
      exitWhenFree(exitCode, tell)
      return
    }
    if (!hasThreadAway() && !(name === 'SIGHUP' && hasTerminal)) process.exit(exitCode)
    process.removeAllListeners(name)
    process.kill(process.pid, name)
    // Reached only in the first process of a container, which a signal without a listener does not end.
    process.exit(exitCode)
  }
  // Node undoes at its start what nohup has set. The only trace of nohup is `_`, in which bash and zsh put the command called.
  const isHangUpIgnored = basename(process.env['_'] ?? '') === 'nohup'
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (name === 'SIGHUP' && isHangUpIgnored) return
      // A closed terminal is signalled twice: by the system and by the shell, which may take its time.
      if (name === reason && (name === 'SIGHUP' || performance.now() < firstAtMs + PASSED_ON_WITHIN_MS)) return
      if (reason === undefined) {
        reason = name
        firstAtMs = performance.now()
        tell(name)
        stop.abort()
        return
      }
      end(SIGNAL_EXIT[name], () => undefined)
    })
  }
  return {
    signal: stop.signal,
    get reason() {
      return reason
    },
    happened,
    atOnce(cleanUp) {
      cleanUps.add(cleanUp)
      return () => void cleanUps.delete(cleanUp)
    },
    end,
  }
}

/**
 * Ends with the exit code once no thread waits. A plain exit would wait too, but for ever and deaf to signals. Only SIGKILL ends
 * a process by itself without its threads; no exit code goes with it.
 */
function exitWhenFree(exitCode: number, tell: (text: string) => void): void {
  const exitIfFree = (): void => {
    if (!hasThreadAway()) process.exit(exitCode)
  }
  exitIfFree()
  for (const name of SIGNALS) process.removeAllListeners(name)
  setInterval(exitIfFree, LOOK_AGAIN_MS)
  setTimeout(() => tell(`${SILENT} Waiting for it for up to a minute; Ctrl-C ends at once.`), TOLD_AFTER_MS)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), FREE_WITHIN_MS)
}

/** Whether one of Node's threads waits for the system. On Windows a process cannot end by a signal. */
function hasThreadAway(): boolean {
  return (
    process.platform !== 'win32' && process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo)/.test(name))
  )
}
