// Events to the host, from one place: typed, synchronous, each listener in its own try, so that a mistake in a host's
// listener never changes an upload.

import { EventEmitter } from 'eventemitter3'

/** `T` maps the name of each event to what its listeners receive. */
export interface Events<T> {
  on<K extends keyof T & string>(event: K, listener: (payload: T[K]) => void): void
  off<K extends keyof T & string>(event: K, listener: (payload: T[K]) => void): void
}

export interface Emitter<T> extends Events<T> {
  /** Whether anybody listens: what nobody hears need not be made. */
  isHeard(event: keyof T & string): boolean
  emit<K extends keyof T & string>(event: K, payload: T[K]): void
}

/** `onListenerError` hears once of each listener that threw; the listener stays. */
export function createEmitter<T>(onListenerError: (error: unknown) => void): Emitter<T> {
  const emitter = new EventEmitter<string>()
  const reported = new WeakSet<object>()
  return {
    on(event, listener) {
      emitter.on(event, listener as (payload: unknown) => void)
    },
    off(event, listener) {
      emitter.off(event, listener as (payload: unknown) => void)
    },
    isHeard: (event) => emitter.listenerCount(event) > 0,
    emit(event, payload) {
      for (const listener of emitter.listeners(event)) {
        try {
          listener(payload)
        } catch (error) {
          if (reported.has(listener)) continue
          reported.add(listener)
          onListenerError(error)
        }
      }
    },
  }
}
