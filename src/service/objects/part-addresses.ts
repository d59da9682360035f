// The addresses of all parts of many files. Signing 100,000 of them takes seconds.

import { inTurns } from '../in-turns.ts'
import type { VideoObject } from './object-storage.ts'

/** The addresses of parts 1 to N of each file. Rejects with the signal's reason. */
export async function addressesOfParts(
  files: readonly VideoObject[],
  sign: (file: VideoObject, partNumber: number) => string,
  signal: AbortSignal,
): Promise<string[][]> {
  const addresses = await inTurns(partsOf(files), ([file, partNumber]) => sign(file, partNumber), signal)
  let end = 0
  return files.map(({ partCount }) => addresses.slice(end, (end += partCount)))
}

function* partsOf(files: readonly VideoObject[]): Generator<readonly [VideoObject, partNumber: number]> {
  for (const file of files)
    for (let partNumber = 1; partNumber <= file.partCount; partNumber++) yield [file, partNumber]
}
