// The one place that sends events to the host. They are typed and synchronous, and each listener runs in its own try, so that a
// bug in a host's listener never changes an upload, nor ends its process as a rejection that nobody handles.

import { EventEmitter } from 'eventemitter3'
import { summarize, type ErrorSummary } from '../core/errors.ts'

/** `T` maps each event's name to what its listeners receive. */
export interface Events<T> {
  on<K extends keyof T & string>(event: K, listener: (payload: T[K]) => void): void
  off<K extends keyof T & string>(event: K, listener: (payload: T[K]) => void): void
}

export interface Emitter<T> extends Events<T> {
  /** Whether anybody listens. An event that nobody hears need not be made. */
  isHeard(event: keyof T & string): boolean
  emit<K extends keyof T & string>(event: K, payload: T[K]): void
}

/** A listener that throws or rejects is reported once, as a warning, and stays registered. */
export function createEmitter<T extends { readonly warning: ErrorSummary }>(): Emitter<T> {
  const events = new EventEmitter<string>()
  const reported = new WeakSet<object>()
  /** Calls the listener at once. */
  const tell = async (listener: (payload: unknown) => unknown, payload: unknown): Promise<void> => {
    try {
      await listener(payload)
    } catch (error) {
      if (reported.has(listener)) return
      reported.add(listener)
      const message = `A listener threw: ${summarize(error).message}`
      emitter.emit('warning', { code: 'ERR_UPLOAD_INTERNAL', message })
    }
  }
  const emitter: Emitter<T> = {
    on(event, listener) {
      events.on(event, listener as (payload: unknown) => void)
    },
    off(event, listener) {
      events.off(event, listener as (payload: unknown) => void)
    },
    isHeard: (event) => events.listenerCount(event) > 0,
    emit(event, payload) {
      for (const listener of events.listeners(event)) void tell(listener, payload)
    },
  }
  return emitter
}
