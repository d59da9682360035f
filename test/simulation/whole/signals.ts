// A stand-in for the platform's AbortController while nights are simulated. Node 20 gives every signal its own hidden classes,
// which every place that uses it has to learn. That is an eighth of a night's work, for signals that almost never fire.

import process from 'node:process'

type Listener = (event: { readonly type: 'abort' }) => void

const ABORT = { type: 'abort' } as const

class SimulatedSignal {
  aborted = false
  reason: unknown = undefined
  /** Replaced with each change, so that a list that is being iterated stays as it was. */
  #listeners: readonly { readonly listener: Listener; readonly isOnce: boolean }[] = []

  throwIfAborted(): void {
    if (this.aborted) throw this.reason as Error
  }

  addEventListener(_: 'abort', listener: Listener, { once: isOnce = false }: { readonly once?: boolean } = {}): void {
    if (!this.#has(listener)) this.#listeners = [...this.#listeners, { listener, isOnce }]
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    if (this.#has(listener)) this.#listeners = this.#listeners.filter((one) => one.listener !== listener)
  }

  /** A listener that was removed meanwhile is not called, and one that throws does not keep others from being called. */
  fire(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const { listener, isOnce } of this.#listeners) {
      if (!this.#has(listener)) continue
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

  #has(listener: Listener): boolean {
    return this.#listeners.some((one) => one.listener === listener)
  }
}

class SimulatedController {
  readonly signal = new SimulatedSignal()

  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    this.signal.fire(reason)
  }
}

/** Only as much of AbortController as the client uses. Every signal of a night is one of these. */
export const SimulatedAbortController = SimulatedController as unknown as typeof AbortController
