// The service's sources as JavaScript in a folder of their own, for tests that need it in a process that can be killed.

import { copyFile, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Compiles into a new folder, which the caller removes, and returns it. */
export async function compileService(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'service-compiled-'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  for (const path of [...(await sources('src/service')), ...(await sources('src/client'))]) {
    const { outputText } = ts.transpileModule(await readFile(path, 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    })
    const target = join(folder, relative(join(root, 'src'), path).replace(/\.ts$/, '.js'))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, outputText)
  }
  const document = 'service/openapi.json'
  await copyFile(join(root, 'src', document), join(folder, document))
  return folder
}

async function sources(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true })
  return entries.filter((name) => name.endsWith('.ts')).map((name) => join(root, folder, name))
}
