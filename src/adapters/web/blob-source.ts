// Source over a Blob or File: its slices go to the network unread, and it is read only where bytes must pass through us.

import { invalid, UploadError } from '../../core/errors.ts'
import type { Reader, Source, SourceIdentity } from '../../core/ports.ts'
import { learnFacts } from './file-facts.ts'
import { lastByteOf, look, type Looked } from './looks.ts'
import { createReadGate } from './read-gate.ts'
import { endedEarly, requirePosition, requireSame, sourceChanged } from './source-identity.ts'

/** What was given out to be sent and has not been looked after: as long as there is some, another look comes soon. */
let outCount = 0

/** Uploads a File under its own name. */
export function blobSource(file: File): Source
/** Uploads a Blob or File under `name`. A File's `lastModified` is part of what it is; a Blob has no such time. */
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
      // One that was gone before it was asked for its size says that it is empty, and was written to just now.
      if (blob.size === 0) await bytesOf(name, blob, 0)
      requireSame(name, expected, identityOf(blob))
      // No look before it is first sent: what cannot be read fails then, alone, and what changed meanwhile is looked at after.
      if (wasOpened) await probe(true)
      wasOpened = true
      return blobReader(name, blob, probe)
    },
  }
}

function identityOf(blob: Blob): SourceIdentity {
  const { size: sizeBytes, lastModified: modifiedAtMs } = blob as Blob & Partial<File>
  return modifiedAtMs === undefined ? { sizeBytes } : { sizeBytes, modifiedAtMs }
}

function blobReader(name: string, blob: Blob, probe: (isUrgent: boolean) => Promise<void>): Reader {
  const gate = createReadGate(`the reader of "${name}"`)
  /** Bytes that pass through us hold a slot and memory until the file was looked at. */
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
      // A File that goes out whole is read by the browser's network itself, where each slice passes through two processes
      // more. With a type it would bring a Content-Type that nobody signed; a slice has none.
      // Making a slice holds the page up until another process has answered, for milliseconds while that reads for other requests.
      // So each is made when it is asked for: those of a whole file made at once were one task of up to 96 ms.
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

/** Looks whether the file is what it was: along with others, and by itself where one of those is not. */
function createProbe(name: string, blob: Blob): (isUrgent: boolean) => Promise<void> {
  const looked: Looked = { blob }
  return async (isUrgent) => {
    const { reading } = await look(looked, isUrgent)
    if (await reading) return
    // It is the only one, or one of several could not be read: each finds out by itself.
    await bytesOf(name, lastByteOf(looked), blob.size - 1)
  }
}

async function bytesOf(name: string, slice: Blob, start: number, lengthBytes = slice.size): Promise<Uint8Array> {
  let bytes: ArrayBuffer
  try {
    bytes = await slice.arrayBuffer()
  } catch (cause) {
    // These names are all that a platform says, whether the file was changed, moved, or its permission taken back. Firefox says
    // AbortError of one that is gone.
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
