// The addresses of all parts of many files: a hundred thousand take seconds to sign.

import { inTurns } from '../in-turns.ts'
import type { VideoObject } from './object-storage.ts'

/** For each file the addresses of parts 1 to N; rejects with the signal's reason. */
export async function addressesOfParts(
  files: readonly VideoObject[],
  sign: (file: VideoObject, partNumber: number) => string,
  signal: AbortSignal,
): Promise<string[][]> {
  const addresses = files.map((): string[] => [])
  await inTurns(partsOf(files), ([index, file, partNumber]) => addresses[index]?.push(sign(file, partNumber)), signal)
  return addresses
}

function* partsOf(files: readonly VideoObject[]): Generator<readonly [index: number, VideoObject, partNumber: number]> {
  for (const [index, file] of files.entries())
    for (let partNumber = 1; partNumber <= file.partCount; partNumber++) yield [index, file, partNumber]
}
