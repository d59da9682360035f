// Finds the file that an entry of a receipt stands for. Names are not enough: two clips of one session may share a name, and
// the service knows a renamed capture with its folder's name in front. So the bytes decide, and each file proves one entry.

import { resolve } from 'node:path'
import type { FoundFile } from '../adapters/node/files/directory.ts'
import type { DeliveredFile } from '../node.ts'
import { proveFile, type FileProof } from './receipt-check.ts'

/** Proves each entry, in order, by the first candidate that matches. If none does, the likeliest one says what is wrong. */
export async function* proveAll(
  delivered: readonly DeliveredFile[],
  files: readonly FoundFile[],
): AsyncGenerator<FileProof> {
  const left = new Set(files)
  for (const entry of delivered) {
    const candidates = candidatesFor(entry.name, [...left])
    let proof: FileProof | undefined
    for (const candidate of candidates) {
      const tried = await proveFile(entry, candidate.path)
      proof ??= tried
      if (tried.outcome !== 'proven') continue
      left.delete(candidate)
      proof = tried
      break
    }
    yield proof ?? (await proveFile(entry, undefined))
  }
}

/** Likeliest first: files of that very name, then files renamed by their folder, then by a folder that has another name now. */
function candidatesFor(name: string, files: readonly FoundFile[]): readonly FoundFile[] {
  const renamed = files.filter((file) => file.name !== name && name.endsWith(`_${file.name}`))
  return [
    ...files.filter((file) => file.name === name),
    ...renamed.filter((file) => isNameOf(file, name)),
    ...renamed.filter((file) => !isNameOf(file, name)),
  ]
}

/** `field/cam1/a.mp4` is sent as `cam1_a.mp4`, or with more of its path in front. */
function isNameOf({ path }: FoundFile, name: string): boolean {
  const steps = resolve(path).split(/[/\\]+/)
  return steps.some((_, depth) => steps.slice(-depth - 1).join('_') === name)
}
