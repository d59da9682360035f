// Compiles the small C programs of the benchmark on first use, with the machine's own compiler.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const COMPILERS = [process.env['CC'], 'cc', 'gcc', 'clang']

/** There is no compiler, or none that can build this program. The message says what to install. */
export class CompilerMissing extends Error {}

/**
 * Compiles a C file into the folder, once for each version of its text and each set of flags. Returns the path of the
 * program. Throws CompilerMissing.
 */
export async function compiled(source: string, folder: string, flags: readonly string[] = []): Promise<string> {
  const version = createHash('sha256')
    .update(await readFile(source))
    .update(flags.join(' '))
    .digest('hex')
    .slice(0, 12)
  const program = join(folder, `${basename(source, '.c')}-${version}`)
  if (existsSync(program)) return program
  await mkdir(folder, { recursive: true })
  // Under its own name only once it is whole, because another run may be looking for it.
  const fresh = `${program}.${String(process.pid)}`
  const complaints: string[] = []
  for (const compiler of COMPILERS) {
    if (compiler === undefined) continue
    try {
      // Libraries must come after the source that needs them.
      await run(compiler, ['-O2', '-pthread', '-o', fresh, source, ...flags])
      await rename(fresh, program)
      return program
    } catch (error) {
      complaints.push(`${compiler}: ${String((error as { stderr?: string }).stderr ?? error).slice(0, 300)}`)
    }
  }
  throw new CompilerMissing(
    `No compiler here builds ${basename(source)} (${[...flags, 'C'].join(' ')}). On Debian: apt install gcc libc6-dev libssl-dev. ` +
      complaints.join(' '),
  )
}
