// Source over a Blob or File. Its slices go to the network unread, and it is read only where bytes must pass through
// us.

import { invalid, UploadError } from '../../core/errors.ts'
import type { Reader, Source, SourceIdentity } from '../../core/ports.ts'
import { learnFacts } from './file-facts.ts'
import { firstPiece, look } from './looks.ts'
import { createReadGate } from './read-gate.ts'
import { endedEarly, requirePosition, requireSame, sourceChanged } from './source-identity.ts'

/** Slices given out to be sent whose file was not looked at since. While there are any, another look comes soon. */
let outCount = 0

/** Uploads a File under its own name. */
export function blobSource(file: File): Source
/** Uploads a Blob or File under `name`. A File's `lastModified` is part of its identity. A Blob has no such time. */
export function blobSource(name: string, blob: Blob): Source
export function blobSource(nameOrFile: string | File, given?: Blob): Source {
  const blob = typeof nameOrFile === 'string' ? given : nameOrFile
  if (!blob) return invalid('blobSource: pass a File, or a name and a Blob.')
  const name = typeof nameOrFile === 'string' ? nameOrFile : nameOrFile.name
  const probe = createProbe(name, blob)
  let wasOpened = false

  return {
    name,
    async describe(signal) {
      signal?.throwIfAborted()
      await learnFacts([blob])
      return identityOf(blob)
    },
    async open(expected) {
      // A File that was gone before its size was asked for claims to be empty and just written, so it is read to find
      // out.
      if (blob.size === 0) await bytesOf(name, blob, 0)
      requireSame(name, expected, identityOf(blob))
      // No look before the first sending: a file that cannot be read fails then, alone, and a change meanwhile is found
      // by the look after it.
      if (wasOpened) await probe(true)
      wasOpened = true
      return blobReader(name, blob, probe)
    },
  }
}

function identityOf(blob: Blob): SourceIdentity {
  const { size: sizeBytes, lastModified: modifiedAtMs } = blob as Blob & Partial<File>
  return { sizeBytes, modifiedAtMs }
}

function blobReader(name: string, blob: Blob, probe: (isUrgent: boolean) => Promise<void>): Reader {
  const gate = createReadGate(`the reader of "${name}"`)
  /**
   * Set once bytes have passed through us. They hold a slot and memory until the file was looked at, so that look is
   * urgent.
   */
  let isRead = false
  let ownCount = 0
  const giveOut = (by: number): void => {
    ownCount += by
    outCount += by
  }

  return {
    read(into, at) {
      return gate.run(async () => {
        requirePosition(at)
        isRead = true
        into.set(await bytesOf(name, blob.slice(at, at + into.byteLength), at, into.byteLength))
      })
    },
    blob(start, end) {
      requirePosition(start)
      // A File that goes out whole is read by the browser's network process itself, while each slice passes through two
      // more processes. A File with a type would bring a Content-Type that nobody signed. A slice has no type. Making a
      // slice blocks the page until another process has answered, for milliseconds if that process is reading for other
      // requests. So each slice is made when it is asked for: all slices of a file made at once were one task of up to
      // 96 ms.
      const slice = start === 0 && end === blob.size && blob.type === '' ? blob : blob.slice(start, end)
      if (slice.size !== end - start) throw endedEarly(name, start, end - start, slice.size)
      giveOut(1)
      return slice
    },
    verify() {
      if (ownCount > 0) giveOut(-1)
      return gate.run(() => probe(isRead || outCount === 0))
    },
    close() {
      giveOut(-ownCount)
      return gate.close()
    },
  }
}

/**
 * Makes the check of whether the file is still what it was: together with other files, or alone if one of them is not.
 */
function createProbe(name: string, blob: Blob): (isUrgent: boolean) => Promise<void> {
  /** Made once: making a slice blocks the page until another process of the browser has answered. */
  let lastByte: Blob | undefined
  return async (isUrgent) => {
    const { reading } = await look(blob, isUrgent)
    if (await reading) return
    // Either this is the only file, or one of several could not be read. Then each finds out by itself.
    const last = (lastByte ??= blob.slice(-1))
    // `arrayBuffer` says why a byte cannot be read, which a stream does not. But WebKit's gives zeros in place of what is
    // missing of a file that became shorter in the second in which it was written.
    const { length } = await firstPiece(last).catch(() => bytesOf(name, last, blob.size - 1))
    if (length < last.size) throw endedEarly(name, blob.size - 1, 1, 0)
  }
}

async function bytesOf(name: string, slice: Blob, start: number, lengthBytes = slice.size): Promise<Uint8Array> {
  let bytes: ArrayBuffer
  try {
    bytes = await slice.arrayBuffer()
  } catch (cause) {
    // These names are all that a platform tells, whether the file was changed or moved, or its permission taken back.
    // Firefox says AbortError for a file that is gone.
    if (cause instanceof Error && /^(?:NotReadable|NotFound|Abort)Error$/.test(cause.name)) {
      throw sourceChanged(name, 'it was written to, moved or closed to us, so choose it again', cause)
    }
    throw new UploadError(
      'ERR_UPLOAD_SOURCE_READ',
      `"${name}" cannot be read at byte ${start}. Choose it again, then start a new upload of it.`,
      { cause, details: { location: name } },
    )
  }
  if (bytes.byteLength !== lengthBytes) throw endedEarly(name, start, lengthBytes, bytes.byteLength)
  return new Uint8Array(bytes)
}
