// `mocap-uplink serve`: runs the service on this machine until it is stopped.

import type { Command } from 'commander'
import { pathOf } from '../command.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { EXIT, SIGNAL_EXIT } from '../exit-codes.ts'
import { addBelow } from '../views/help-texts.ts'
import { addJwtOptions } from '../serve/jwt-from-options.ts'
import { addLimitOptions } from '../serve/limits-from-options.ts'
import { makeFolderOrTemporary } from '../options/folder-option.ts'
import { addOutputOptions } from '../options/options.ts'
import { readNewDatabase } from '../serve/new-database.ts'
import { s3FromEnvironment } from '../serve/s3-from-environment.ts'
import { applyRules, serveSettings, type ServeOptions } from '../serve/serve-settings.ts'
import { errorCode } from '../../adapters/node/file-problem.ts'
import { invalid } from '../../core/errors.ts'
import type { Output } from '../views/output.ts'
import type { RunningService } from '../../service/index.ts'
import { addKeysCommand } from './serve-keys.ts'

export function addServeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('serve')
    .description('run the service on this machine')
    .option('--port <n>', 'port; 0 takes any free one', '8787')
    .option('--host <address>', 'address to listen on; the default is this machine only', '127.0.0.1')
    .option('--data <dir>', 'keep everything in this folder (default: in memory, gone at the end)')
    .option('--database-url-file <file>', 'keep the records in the PostgreSQL server whose URL is in this file')
    .option('--database-connections <n>', 'maximum number of connections to that server (default: 10)')
    .option('--address-life <time>', 'how long an address for a file or part works; at most 7d', '1h')
    .option('--complete-after <time>', 'complete an analysis this long after its request (default: never)')
    .option('--stop-within <time>', 'how long a stop waits for calls that are still running', '30s')
    .option(
      '--stop-delay <time>',
      'how long a stop answers 503 at /readyz before it does anything else (default: no delay)',
    )
    .option('--metrics-port <n>', 'serve /metrics on this port, for this machine only (default: on --port)')
    .option(
      '--keep-free <size>',
      'disk space of --data that is kept free for the database; 0 checks nothing (default: 64MiB)',
    )
    .option(
      '--end-sessions-after <time>',
      'end unfinished video sessions that are older than this; `never` keeps them',
      '7d',
    )
    .option('--public-url <url>', 'what addresses begin with if a proxy or load balancer is in front')
    .option('--managed-keys', 'accept only API keys made with `serve keys`, and no fixed key or token')
    .option('--log', 'a JSON line for each call on stderr: method, path, status, time, request id; nothing secret')
    .option('--faults <file>', 'misbehave by the rules of this JSON file, or of night:NAME (docs/faults.md)')
  addBelow(
    command,
    'The credentials that callers must show are taken from MOCAP_API_KEY and MOCAP_ACCESS_TOKEN; without either, a ' +
      "key and a token are made up and printed once (with --json in the event 'listening').",
    'DATABASE_URL names a PostgreSQL server as well; several services may share it, with one --data or bucket for all.',
    'MOCAP_METRICS_TOKEN asks whoever reads /metrics at --port for this bearer token. SIGTERM ends with exit code 0.',
    'S3_BUCKET, S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY and S3_SECRET_KEY keep the objects in an S3-compatible store.',
  )
  addJwtOptions(command)
  addLimitOptions(command)
  addOutputOptions(command).action((options: ServeOptions) => serve(context, options))
  command.hook('preAction', (_command, called) => refuseUnused(command, called))
  addOutputOptions(
    command
      .command('cors')
      .description(
        'let pages of these origins send to the bucket that the environment names, and read ETags, in place of all CORS rules that it has',
      )
      .requiredOption('--origin <url...>', 'https://app.example; * for any'),
  ).action((_options, cors: Command) => setOrigins(context, cors.optsWithGlobals<CorsOptions>()))
  addKeysCommand(command, context)
}

/** The options of `serve` that the commands below it take as well. */
const SHARED: readonly string[] = ['json', 'quiet']
const OF_KEYS: readonly string[] = [...SHARED, 'data', 'databaseUrlFile']

/** Throws if an option of `serve` is given that the command below it has no use for: commander takes it there too. */
function refuseUnused(serve: Command, called: Command): void {
  if (called === serve) return
  const path = pathOf(called)
  const used = path.includes('keys') ? OF_KEYS : SHARED
  const unused = serve.options.find((option) => {
    const name = option.attributeName()
    return serve.getOptionValueSource(name) === 'cli' && !used.includes(name)
  })
  if (unused?.long) invalid(`${unused.long} has no effect on ${path.join(' ')}: leave it out.`)
}

type Settings = Awaited<ReturnType<typeof serveSettings>>

/** Hosts that nobody can call, so that the service calls itself by the loopback address. */
const ANY_ADDRESS: readonly (string | undefined)[] = ['0.0.0.0', '::']

async function serve(context: CommandContext, options: ServeOptions): Promise<void> {
  const output = context.begin('serve', options)
  const settings = await interruptible(serveSettings(options, context.env), context.interruption)
  await makeFolderOrTemporary(options.data, '--data')
  // Imported only here: uploads need none of the service's packages.
  const { startService } = await import('../../service/index.ts')
  output.say('Starting the service …')
  // A parent that started us with a channel and then died can no longer send a signal.
  const orphaned = new Promise<void>((resolve) => {
    process.once('disconnect', resolve)
    // It may have died while this was being loaded. Without a channel this is undefined, whatever its type says.
    const { connected } = process as { readonly connected?: boolean }
    if (connected === false) resolve()
  })
  const stopped = Promise.race([context.interruption.happened, orphaned]).then(() => output.say('Stopping …'))
  const service = await startService({ ...settings, preparedDatabase: readNewDatabase }).catch((error: unknown) =>
    explain(error, options),
  )
  // A start cannot be broken off. What a service says that ends at once would only hide that it is being stopped.
  if (context.interruption.reason === undefined) tellListening(output, service, settings, options)
  await stopped
  await service.close()
  const { reason } = context.interruption
  output.event('result', { flow: 'serve', status: 'interrupted' })
  // A supervisor ends what it runs by SIGTERM, and a service that ended in order has not failed.
  context.exitWith(reason === undefined || reason === 'SIGTERM' ? EXIT.done : SIGNAL_EXIT[reason])
}

function tellListening(output: Output, service: RunningService, settings: Settings, options: ServeOptions): void {
  const { credentials, databaseUrl, s3 } = settings
  const made = credentials === undefined ? service.credentials : undefined
  output.event('listening', {
    url: service.url,
    port: service.port,
    metricsUrl: service.metricsUrl ?? null,
    data: options.data ?? null,
    ...(made === undefined ? {} : { apiKey: made.apiKeys[0], accessToken: made.accessTokens[0] }),
  })
  output.answer(`The service listens on ${service.url}`)
  if (settings.page !== undefined) output.answer(`Its page is at ${service.url}/ and asks for the API key.`)
  if (service.metricsUrl !== undefined) output.answer(`Its metrics are at ${service.metricsUrl}`)
  if (s3 !== undefined) output.answer(`It keeps the objects in the bucket ${s3.bucket}`)
  if (options.data !== undefined) output.answer(`It keeps its data in ${options.data}`)
  else if (databaseUrl === undefined)
    output.answer(s3 === undefined ? 'It keeps everything in memory.' : 'It keeps its records in memory.')
  if (databaseUrl !== undefined) output.answer(`It keeps its records in PostgreSQL${placeOf(new URL(databaseUrl))}`)
  if (ANY_ADDRESS.includes(options.host) && options.publicUrl === undefined && s3 === undefined) {
    output.complain(
      `Files go to addresses that begin with ${service.url}, which only this machine reaches. ` +
        'For others, give --public-url: the URL by which they call this service.',
    )
  }
  if (credentials !== 'managed') {
    output.complain(
      'Development mode: whoever has the fixed key or token has all of the organisation “development”. ' +
        'For others than yourself, make keys with `serve keys create` and serve with --managed-keys.',
    )
  }
  if (made !== undefined) {
    output.answer(`API key:      ${made.apiKeys[0] ?? ''}`)
    output.answer(`Access token: ${made.accessTokens[0] ?? ''}`)
  }
  if (output.mode === 'terminal') output.say('Ctrl-C ends it.')
}

/** The host of a database's URL, or none. pg prefers the one in its query, such as the folder of a socket. */
function placeOf({ host, searchParams }: URL): string {
  const named = searchParams.get('host') || host
  return named ? ` at ${named}` : ''
}

/** Throws wrong use if the system refuses that host or port. Throws any other error as it is. */
function explain(error: unknown, { host, metricsPort }: ServeOptions): never {
  const { port, address } = error as { readonly port?: number; readonly address?: string }
  const flag = port !== undefined && port === Number(metricsPort) ? '--metrics-port' : '--port'
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return invalid(`Port ${port} of ${address} is taken: end the program that has it, or give another ${flag}.`)
    case 'EACCES':
      // Not of a port, but of something below --data.
      if (port === undefined) throw error
      return invalid(`This user may not listen on port ${port}: give another ${flag}.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return invalid(`This machine has no address ${host}: give another --host.`)
    case 'EAI_AGAIN':
      return invalid(`No name server says which address ${host} is: give the address itself as --host.`)
    case 'EINVAL':
      // Not of an address, but of something below --data.
      if (address === undefined) throw error
      return invalid(`This machine cannot listen on ${host}: give another --host.`)
    default:
      throw error
  }
}

interface CorsOptions extends Pick<ServeOptions, 'json' | 'quiet'> {
  readonly origin: readonly string[]
}

async function setOrigins(context: CommandContext, options: CorsOptions): Promise<void> {
  const output = context.begin('serve', options)
  const { origin: origins } = options
  const s3 = s3FromEnvironment(context.env) ?? invalid('S3_BUCKET is not set: name the bucket whose origins to set.')
  const wrong = origins.find((origin) => origin !== '*' && !isOrigin(origin))
  if (wrong !== undefined) invalid(`--origin "${wrong}" must be * or an origin such as https://app.example.`)
  const { resolveS3 } = await import('../../service/s3/s3-settings.ts')
  applyRules(() => resolveS3(s3))
  const { allowOriginsOfBucket } = await import('../../service/index.ts')
  await interruptible(allowOriginsOfBucket(s3, origins), context.interruption)
  output.event('result', { flow: 'serve', status: 'completed' })
  output.answer(`Pages of ${origins.join(', ')} may send to the bucket ${s3.bucket} and read ETags.`)
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text
}
