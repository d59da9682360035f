// Ctrl-C, SIGTERM and SIGHUP: the first asks the command to stop cleanly, the second ends the process at once.

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
}

/** Listens to the signals of this process until it ends. */
export function listenForSignals(): Interruption {
  const stop = new AbortController()
  const cleanUps: (() => void)[] = []
  let reason: StopSignal | undefined
  let tell: (signal: StopSignal) => void = () => undefined
  const happened = new Promise<StopSignal>((resolve) => (tell = resolve))
  for (const name of Object.keys(SIGNAL_EXIT) as StopSignal[]) {
    process.on(name, () => {
      if (reason === undefined) {
        reason = name
        tell(name)
        stop.abort()
        return
      }
      for (const cleanUp of cleanUps) cleanUp()
      process.exit(SIGNAL_EXIT[name])
    })
  }
  return {
    signal: stop.signal,
    get reason() {
      return reason
    },
    happened,
    atOnce: (cleanUp) => void cleanUps.push(cleanUp),
  }
}
