// Sources over streams for one describe: each spools into a folder of its test, and nothing may be left there.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'

import type { StreamInput } from '../../../src/adapters/node/files/stream-pull.ts'
import { streamSource } from '../../../src/adapters/node/files/stream-source.ts'
import type { Source } from '../../../src/core/ports.ts'

export interface SpooledStreams {
  /** The folder of the test that runs. */
  readonly tempDir: string
  /** A source that is disposed of when its test is over. */
  sourceOf(stream: StreamInput, sizeBytes?: number): Source
}

/** Called within a describe. After each test its folder must be empty. */
export function spooledStreams(): SpooledStreams {
  let tempDir: string
  const sources: Source[] = []

  beforeEach(async () => {
    tempDir = await mkdtemp(join(tmpdir(), 'stream-source-'))
  })
  afterEach(async () => {
    for (const source of sources.splice(0)) await source.dispose?.()
    expect(await readdir(tempDir)).toEqual([])
    await rm(tempDir, { recursive: true })
  })

  return {
    get tempDir() {
      return tempDir
    },
    sourceOf(stream, sizeBytes) {
      const source = streamSource('take-7.mp4', stream, { tempDir, ...(sizeBytes === undefined ? {} : { sizeBytes }) })
      sources.push(source)
      return source
    },
  }
}
