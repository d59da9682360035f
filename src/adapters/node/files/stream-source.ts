// Source over a stream: what can be consumed only once is spooled to a private file, so that any range can be read
// again.
//
// With a known size, parts are sent while later bytes are still arriving. The range with the last byte is held back
// until the stream has ended. So a stream that is longer than announced is found out before its upload can be complete.

import type { Readable } from 'node:stream'

import { invalid, UploadError } from '../../../core/errors.ts'
import { onAbort } from '../../../core/on-abort.ts'
import type { Reader, Source, SourceIdentity } from '../../../core/ports.ts'
import { createReadGate } from '../../web/read-gate.ts'
import { endedEarly, requirePosition, requireSame } from '../../web/source-identity.ts'
import { createStreamIntake, type StreamIntake } from './stream-intake.ts'
import type { StreamInput } from './stream-pull.ts'

export interface StreamSourceOptions {
  /** How many bytes the stream will give. Default: unknown, and the upload starts once all of it is spooled. */
  readonly sizeBytes?: number | undefined
  /**
   * Where the spool file goes, which may become as large as the stream. Default: the system's folder for such files. Except on
   * Windows it has no name there, so that its space is free again however the process ends.
   */
  readonly tempDir?: string | undefined
}

/**
 * Uploads what `stream` gives under `name`. From now on the stream belongs to this source. It is read once, from the
 * first `describe` or `open` on, and ended by `dispose`, except that the request of a server is then read to its end
 * and thrown away, so that you can answer it. A stream that fails rejects with ERR_UPLOAD_SOURCE_READ and its error as
 * the cause, one that somebody has read to its end before with the same code, one of another length than announced with
 * ERR_UPLOAD_SOURCE_CHANGED. All are final. Throws ERR_UPLOAD_INVALID_ARGUMENT for what is no stream, and for a Readable
 * with an encoding (`setEncoding`), which gives text instead of its bytes.
 */
export function streamSource(name: string, stream: StreamInput, options: StreamSourceOptions = {}): Source {
  if (!('getReader' in Object(stream) || Symbol.asyncIterator in Object(stream))) {
    invalid('streamSource: this is no stream. Pass a name, then a Readable, a ReadableStream or an async iterable.')
  }
  const { readableEncoding } = stream as Partial<Readable>
  if (readableEncoding) {
    // What was no text in it is lost by then, and what an encoding other than UTF-8 gives would be sent as other bytes.
    invalid(`streamSource: the stream gives text (${readableEncoding}), not its bytes. Pass one without an encoding.`)
  }
  const announcedBytes = options.sizeBytes
  if (announcedBytes !== undefined && !(Number.isSafeInteger(announcedBytes) && announcedBytes >= 0)) {
    invalid(`streamSource: sizeBytes is ${announcedBytes}. Pass a whole number of bytes, or leave it out.`)
  }
  const intake = createStreamIntake({ name, stream, announcedBytes, tempDir: options.tempDir })

  async function describe(signal?: AbortSignal): Promise<SourceIdentity> {
    signal?.throwIfAborted()
    intake.start()
    // A length of 0 has no last byte to hold back, so the end itself is waited for.
    const isEndNeeded = announcedBytes === undefined || announcedBytes === 0
    await arrival(intake, () => !isEndNeeded || intake.isEnded, signal)
    return { sizeBytes: announcedBytes ?? intake.receivedBytes }
  }

  return {
    name,
    describe,
    async open(expected) {
      const found = await describe()
      requireSame(name, expected, found)
      return streamReader(name, intake, found.sizeBytes)
    },
    dispose: () => intake.dispose(),
  }
}

/** Waits for what the stream gives, which may never come. Rejects with the signal's reason if that fires first. */
async function arrival(intake: StreamIntake, isHere: () => boolean, signal: AbortSignal | undefined): Promise<void> {
  const settled = intake.until(() => signal?.aborted === true || isHere())
  const leave = signal && onAbort(signal, intake.wake)
  try {
    await settled
  } finally {
    leave?.()
  }
  signal?.throwIfAborted()
}

function streamReader(name: string, intake: StreamIntake, totalBytes: number): Reader {
  const gate = createReadGate(`the reader of "${name}"`)
  let isClosing = false

  async function bytesUpTo(end: number, signal: AbortSignal | undefined): Promise<void> {
    const isHere = end < totalBytes ? () => intake.receivedBytes >= end : () => intake.isEnded
    await arrival(intake, () => isClosing || isHere(), signal)
    if (!isHere()) {
      throw new UploadError('ERR_UPLOAD_SOURCE_READ', `"${name}" was closed while a read waited for its stream.`, {
        details: { location: name },
      })
    }
  }

  return {
    read(into, at, signal) {
      return gate.run(async () => {
        requirePosition(at)
        const end = at + into.byteLength
        if (end > totalBytes) throw endedEarly(name, at, into.byteLength, Math.max(0, totalBytes - at))
        await bytesUpTo(end, signal)
        const filled = await intake.read(into, at)
        if (filled < into.byteLength) throw endedEarly(name, at, into.byteLength, filled)
      })
    },
    verify() {
      return gate.run(() => intake.until(() => true))
    },
    close() {
      // Bytes may never come: those who wait are refused, and only reads of the disk are waited for.
      isClosing = true
      const closed = gate.close()
      intake.wake()
      return closed
    },
  }
}
