// The emitter of an upload that a test plays itself: a listener under test that throws fails the run.

import { createEmitter, type Emitter } from '../../src/flows/emitter.ts'
import type { UploadEvents } from '../../src/flows/upload.ts'

export function loudEmitter(): Emitter<UploadEvents> {
  const emitter = createEmitter<UploadEvents>()
  emitter.on('warning', ({ message }) => {
    if (!message.startsWith('A listener threw')) return
    // Later, where the emitter does not catch it.
    queueMicrotask(() => {
      throw new Error(message)
    })
  })
  return emitter
}
