// Makes the folders of the service, below whatever place somebody names.

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { isCode } from './error-code.ts'

/**
 * Makes a folder and those above it (mode 0700). Rejects with the system's code when that is impossible. Node's own `recursive`
 * (20 to 24) never ends where nothing can be made though the folder above is there, such as /proc or what an automounter watches.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeFrom(path)
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    const words = `The folder ${path} cannot be made (${code}). Choose another place for the data, or make it yourself.`
    throw Object.assign(new Error(words, { cause }), { code })
  }
}

async function makeFrom(path: string, isAboveThere = false): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (isCode(error, 'ENOENT') && !isAboveThere && dirname(path) !== path) {
      await makeFrom(dirname(path))
      return makeFrom(path, true)
    }
    if (!(await isFolder(path))) throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
