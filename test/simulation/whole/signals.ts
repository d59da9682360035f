// Stands for the platform's AbortController while nights are simulated. Node 20 gives every signal of its own hidden classes,
// which each place that looks at it has to learn: an eighth of a night's work, for signals that nearly never fire.

import process from 'node:process'

type Listener = (event: { readonly type: 'abort' }) => void

interface Listening {
  readonly listener: Listener
  readonly isOnce: boolean
}

const ABORT = { type: 'abort' } as const

class SimulatedSignal {
  aborted = false
  reason: unknown = undefined
  /** Few, and most of them leave in turn. */
  private readonly listening: Listening[] = []

  throwIfAborted(): void {
    if (this.aborted) throw this.reason as Error
  }

  addEventListener(_: 'abort', listener: Listener, { once: isOnce = false }: { readonly once?: boolean } = {}): void {
    if (this.placeOf(listener) < 0) this.listening.push({ listener, isOnce })
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    const place = this.placeOf(listener)
    if (place >= 0) this.listening.splice(place, 1)
  }

  /** Who has left meanwhile is not called, and who fails keeps nobody else from being called. */
  fire(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const { listener, isOnce } of [...this.listening]) {
      if (this.placeOf(listener) < 0) continue
      if (isOnce) this.removeEventListener('abort', listener)
      try {
        listener(ABORT)
      } catch (error) {
        process.nextTick(() => {
          throw error
        })
      }
    }
  }

  private placeOf(listener: Listener): number {
    const { listening } = this
    let place = listening.length - 1
    while (place >= 0 && listening[place]!.listener !== listener) place -= 1
    return place
  }
}

class SimulatedController {
  readonly signal = new SimulatedSignal()

  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    this.signal.fire(reason)
  }
}

/** As much of it as the client uses. Every signal of a night is one of these. */
export const SimulatedAbortController = SimulatedController as unknown as typeof AbortController
