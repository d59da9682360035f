// `mocap-uplink serve keys`: whoever runs the service makes, lists and revokes the API keys of organisations.

import { access } from 'node:fs/promises'
import { join } from 'node:path'

import type { Command } from 'commander'
import { errorCode } from '../../adapters/node/file-problem.ts'
import { checkText } from '../../client/checks.ts'
import type { ApiKeyRecord, KeyRing } from '../../service/index.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { EXIT } from '../exit-codes.ts'
import { databaseUrlOf } from '../serve/database-url.ts'
import { readNewDatabase } from '../serve/new-database.ts'
import { addBelow } from '../views/help-texts.ts'
import { makeFolderOf } from '../options/folder-option.ts'
import { addOutputOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { invalid } from '../../core/errors.ts'

interface KeysOptions {
  readonly data?: string
  readonly databaseUrlFile?: string
  readonly json?: boolean
  readonly quiet?: boolean
}

const WHERE = 'Say where the keys are kept: --data DIR, or --database-url-file FILE or DATABASE_URL.'

type Work = (ring: KeyRing, output: Output) => Promise<void>

/** Adds `keys` to the command `serve`, whose options say where the database is. */
export function addKeysCommand(serve: Command, context: CommandContext): void {
  const keys = serve
    .command('keys')
    .description('API keys of organisations, in the database of --data or --database-url-file')
  addBelow(
    keys,
    'Beside running services with a PostgreSQL server. The embedded database is one process’s: stop the service first.',
  )
  const run = (command: Command, work: Work, mayBegin = false) =>
    withKeys(context, { ...command.optsWithGlobals<KeysOptions>(), mayBegin }, work)
  addOutputOptions(
    keys
      .command('create')
      .description('make a key and show it, once')
      .requiredOption('--org <id>', 'the organisation whose data it opens')
      .requiredOption('--name <text>', 'what you will know it by'),
  ).action((options: { org: string; name: string }, command: Command) =>
    run(
      command,
      async (ring, output) => {
        const { key, ...made } = await create(ring, options)
        output.event('key', { ...factsOf(made), key })
        output.answer(`API key ${made.id} of ${made.orgId}, shown this once:`)
        output.answer(key)
      },
      true,
    ),
  )
  addOutputOptions(keys.command('list').description('list all keys, oldest first')).action(
    (_options, command: Command) =>
      run(command, async (ring, output) => {
        const all = await ring.list()
        if (all.length === 0) output.complain('There is no API key. `serve keys create` makes one.')
        for (const one of all) {
          output.event('key', factsOf(one))
          const state = one.revokedAt === null ? 'in use' : `revoked ${one.revokedAt.toISOString()}`
          output.answer(`${one.id}  ${one.orgId}  ${one.name}  made ${one.createdAt.toISOString()}, ${state}`)
        }
      }),
  )
  addOutputOptions(
    keys.command('revoke').description('revoke a key; the next call with it is refused').argument('<id>'),
  ).action((id: string, _options, command: Command) =>
    run(command, async (ring, output) => {
      if (!(await ring.revoke(id))) invalid('No API key has this id. `serve keys list` shows them.')
      output.event('revoked', { id })
      output.answer(`API key ${id} is revoked.`)
    }),
  )
  // These options are of `serve`, so the help of these commands does not list them.
  for (const command of keys.commands) addBelow(command, WHERE)
}

/** `mayBegin`: the database is made if there is none yet. Otherwise a folder whose name is misspelt would get an empty one. */
async function withKeys(
  context: CommandContext,
  options: KeysOptions & { readonly mayBegin: boolean },
  work: Work,
): Promise<void> {
  const output = context.begin('serve', options)
  if (options.data !== undefined) checkText(options.data, '--data')
  const databaseUrl = await interruptible(databaseUrlOf(options, context.env), context.interruption)
  if (databaseUrl === undefined) {
    const data = options.data ?? invalid(WHERE)
    if (!options.mayBegin) await interruptible(checkBegun(data), context.interruption)
    await makeFolderOf(data, '--data')
  }
  const { openKeyRing } = await import('../../service/index.ts')
  const ring = await openKeyRing({ dataDir: options.data, databaseUrl, preparedDatabase: readNewDatabase })
  try {
    await work(ring, output)
    output.event('result', { flow: 'serve', status: 'completed' })
    await output.flushed()
    // A key is shown only once, so output that was lost is a failure.
    if (output.hasLost) context.exitWith(EXIT.failed)
  } finally {
    await ring.close()
  }
}

/** Rejects if nobody has made a database in this folder. Whatever else is wrong with it is said when it is opened. */
async function checkBegun(data: string): Promise<void> {
  const problem = await access(join(data, 'db')).catch(errorCode)
  if (problem === 'ENOENT' || problem === 'ENOTDIR')
    invalid(`--data: no service and no \`serve keys create\` has begun "${data}". Name their folder.`)
}

async function create(ring: KeyRing, { org, name }: { org: string; name: string }) {
  try {
    return await ring.create(org, name)
  } catch (error) {
    if (error instanceof TypeError) invalid(error.message)
    throw error
  }
}

function factsOf({ id, orgId, name, createdAt, revokedAt }: ApiKeyRecord) {
  return { id, orgId, name, createdAt: createdAt.toISOString(), revokedAt: revokedAt?.toISOString() ?? null }
}
