// Files of a session that are no more where they were, on a drive that is mounted elsewhere by now: looked for below a folder.

import { resolve, sep } from 'node:path'

import { filesUnder } from '../adapters/node/files/directory.ts'
import { fileSource } from '../adapters/node/files/file-source.ts'
import type { Source } from '../core/ports.ts'
import type { ResumeOptions } from '../flows/sessions.ts'

/**
 * Takes each file from where it was, else the one below `folder` that is called as it was and has its size and time; of
 * several, the one whose way there is most like the old one. Its bytes are looked at later, as at every resume. Rejects as
 * `filesUnder` does.
 */
export async function movedFiles(folder: string): Promise<NonNullable<ResumeOptions['source']>> {
  const byName = new Map<string, string[]>()
  for (const { path, name } of (await filesUnder(folder)).files) {
    const known = byName.get(name)
    if (known) known.push(path)
    else byName.set(name, [path])
  }
  return ({ name, location }) => {
    const old = stepsOf(location)
    const found = (byName.get(old[0] ?? '') ?? [])
      .map((path) => ({ path, likeness: sharedSteps(stepsOf(path), old) }))
      .sort((one, other) => other.likeness - one.likeness)
      .map(({ path }) => fileSource(path, { name }))
    return firstOf(fileSource(location, { name }), found)
  }
}

/** The first of these that is what it was when it is opened; else the last one says what is wrong. */
function firstOf(first: Source, others: readonly Source[]): Source {
  return {
    ...first,
    async open(expected) {
      let wrong: unknown
      for (const source of [first, ...others]) {
        try {
          return await source.open(expected)
        } catch (error) {
          wrong = error
        }
      }
      throw wrong
    },
  }
}

/** From the end: the file's name, its folder, and so on. */
function stepsOf(path: string): readonly string[] {
  return resolve(path).split(sep).reverse()
}

function sharedSteps(one: readonly string[], other: readonly string[]): number {
  const firstOther = one.findIndex((step, index) => step !== other[index])
  return firstOther < 0 ? one.length : firstOther
}
