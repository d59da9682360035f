// What each test of a source has: sources of its own, and readers that are closed behind it.

import { afterEach } from 'vitest'
import type { Reader, Source, SourceIdentity } from '../../core/ports.ts'

/** A source, and what can happen to it. */
export interface SourceSubject {
  readonly source: Source
  /** Makes the source something else than it was, in each way the adapter can be changed. Absent: it cannot be. */
  readonly changes?: Readonly<Record<string, () => Promise<void> | void>>
  /** Takes the source away as it is, in each way the adapter can tell from a change. */
  readonly losses?: Readonly<Record<string, () => Promise<void> | void>>
  /** Removes what making it left behind. */
  readonly cleanUp?: () => Promise<void>
}

type OpenSubject = SourceSubject & { readonly reader: Reader; readonly identity: SourceIdentity }

export interface SourceRig {
  begin(bytes: Uint8Array): Promise<SourceSubject>
  open(source: Source, expected: SourceIdentity): Promise<Reader>
  beginReading(bytes: Uint8Array): Promise<OpenSubject>
  /** Closes and removes all so far, as after each test. */
  endAll(): Promise<void>
}

/** Ends what a test has begun, after each test of the group that calls this. */
export function sourceRig(make: (bytes: Uint8Array) => Promise<SourceSubject>): SourceRig {
  const subjects: SourceSubject[] = []
  const readers: Reader[] = []

  async function begin(bytes: Uint8Array): Promise<SourceSubject> {
    const subject = await make(bytes)
    subjects.push(subject)
    return subject
  }

  async function open(source: Source, expected: SourceIdentity): Promise<Reader> {
    const reader = await source.open(expected)
    readers.push(reader)
    return reader
  }

  async function beginReading(bytes: Uint8Array): Promise<OpenSubject> {
    const subject = await begin(bytes)
    const identity = await subject.source.describe()
    return { ...subject, reader: await open(subject.source, identity), identity }
  }

  async function endAll(): Promise<void> {
    for (const reader of readers.splice(0)) await reader.close()
    for (const subject of subjects.splice(0)) {
      await subject.source.dispose?.()
      await subject.cleanUp?.()
    }
  }

  afterEach(endAll)
  return { begin, open, beginReading, endAll }
}
