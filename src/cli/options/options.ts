// The options that every calling command shares: declared once for the help, read and checked once.

import { type Command, Option } from 'commander'
import { show } from '../../client/checks.ts'
import { invalid } from '../../core/errors.ts'
import { parseTimetable } from '../../core/line/timetable.ts'
import { planFile, S3_LIMITS } from '../../core/plan.ts'
import { asOption, parseDuration, parseInteger, parseSize } from './option-values.ts'

/** Shared options as commander passes them: texts, not yet checked. */
export interface SharedOptions {
  readonly baseUrl?: string
  readonly apiKeyFile?: string
  readonly accessTokenFile?: string
  readonly bearerHeader?: 'Authorization' | 'Authentication'
  readonly stateDir?: string
  /** Only of `video`. */
  readonly partSize?: string
  readonly concurrency?: string
  readonly limitRate?: string
  readonly background?: boolean
  readonly retries?: string
  readonly giveUpAfter?: string
  readonly verify?: 'md5' | 'off' | 'full'
  readonly receipt?: string
  /** Only of `resume`. */
  readonly filesIn?: string
  readonly allowHttp?: boolean
  readonly caFile?: string
  readonly json?: boolean
  readonly quiet?: boolean
  readonly dryRun?: boolean
}

const MAX_CONCURRENCY = 64
/** The defaults that commander fills in. */
export const OPTION_DEFAULTS = { concurrency: 'auto', verify: 'md5' } as const
/** Not filled in by commander: whoever gives `--give-up-after` says that the service exists, so even the first contact is awaited. */
const GIVE_UP_AFTER = '12h'

/** Adds the options about what is printed. */
export function addOutputOptions(command: Command): Command {
  return command
    .optionsGroup('Output:')
    .option('--json', 'one JSON object a line on stdout, the last one the result')
    .option('--quiet', 'print the result and errors only')
}

/** Adds the options of a command that calls the service. */
export function addServiceOptions(command: Command): Command {
  command
    .optionsGroup('Service:')
    .option('--base-url <url>', "the service's base address (or MOCAP_BASE_URL)")
    .option(
      '--api-key-file <file>',
      'a file that holds the API key (or the key itself in MOCAP_API_KEY); read again when it is refused',
    )
    .option(
      '--access-token-file <file>',
      'a file that holds the access token (or the token in MOCAP_ACCESS_TOKEN); read again when it is refused',
    )
    .addOption(
      new Option('--bearer-header <name>', 'the header that carries an access token (default: Authorization)').choices([
        'Authorization',
        'Authentication',
      ]),
    )
    .option('--allow-http', 'allow plain HTTP to other machines; others can then read credentials on the way')
    .option('--ca-file <file>', "PEM file of certificates to trust in addition to the system's")
    .option(
      '--give-up-after <time>',
      `how long to wait for a host that is out of reach: 90s, 30m, 12h, 2d (default: "${GIVE_UP_AFTER}", but a service that has answered neither this command nor the session it resumes is waited for only if you give this option)`,
    )
  addOutputOptions(command)
  return command.option('--dry-run', 'show what would be done; make no call; with --json the plan is the last line')
}

/** Adds the option that says where sessions are kept. */
export function addStateOption(command: Command): Command {
  return command.option(
    '--state-dir <dir>',
    "where sessions are kept, to be resumed (or MOCAP_STATE_DIR; default: the platform's own place)",
  )
}

/** Adds the options of a command that sends parts, for a new session or a known one. */
export function addTransferOptions(command: Command): Command {
  command
    .optionsGroup('Upload:')
    .option(
      '--concurrency <n>',
      `parts in flight: 1 to ${MAX_CONCURRENCY}, of which two stay free for calls above 62, or auto`,
      OPTION_DEFAULTS.concurrency,
    )
    .option(
      '--limit-rate <rate>',
      'bytes a second over all parts, such as 2MB, or by local time of day: "08:00,512KB 23:00,off" (default: no limit)',
    )
    .option('--background', 'let other programs on this machine and its line go first: low priority, few connections')
    .option('--retries <n>', 'attempts of a part that reached the host, the first included (default: 8)')
    .addOption(
      new Option(
        '--verify <how>',
        "md5: compare each part's MD5 with the storage's ETag; full: also read each file again for its SHA-256, and on resume all that was sent; off: hash nothing",
      )
        .choices(['md5', 'full', 'off'])
        .default(OPTION_DEFAULTS.verify),
    )
    .option('--receipt <file>', 'write the receipt there when the upload ends; of several sessions each to FILE.KEY')
  addStateOption(command)
  return addServiceOptions(command)
}

/** Reads the engine's options; those left out keep its defaults. Throws ERR_UPLOAD_INVALID_ARGUMENT that names the option. */
export function engineChoices(options: SharedOptions) {
  const { partSize, concurrency, limitRate, retries } = options
  const { giveUpAfter, verify } = { ...OPTION_DEFAULTS, ...options }
  return {
    ...(partSize === undefined ? {} : { partSizeBytes: parsePartSize(partSize) }),
    ...(concurrency === undefined ? {} : { concurrency: parseConcurrency(concurrency) }),
    ...(limitRate === undefined ? {} : { limitRate: checkLimitRate(limitRate) }),
    ...(options.background === true ? { isBackground: true } : {}),
    ...(retries === undefined ? {} : { retries: parseInteger(retries, '--retries', 1) }),
    giveUpAfterMs: parseDuration(giveUpAfter ?? GIVE_UP_AFTER, '--give-up-after'),
    isFirstContactAwaited: giveUpAfter !== undefined,
    verify,
  }
}

/** The engine checks sizes and rates itself. They are checked here first, so that the error names the option. */
function parsePartSize(text: string): number {
  const partSizeBytes = parseSize(text, '--part-size', 0)
  asOption('--part-size', 'The part size', () => planFile({ name: '', sizeBytes: 1, limits: S3_LIMITS, partSizeBytes }))
  return partSizeBytes
}

function checkLimitRate(text: string): string {
  asOption('--limit-rate', 'The rate limit', () => parseTimetable(text))
  return text
}

function parseConcurrency(text: string): number | 'auto' {
  if (text === 'auto') return 'auto'
  const value = /^\d{1,3}$/.test(text.trim()) ? Number(text) : 0
  if (value >= 1 && value <= MAX_CONCURRENCY) return value
  return invalid(`--concurrency is ${show(text)}: give a whole number from 1 to ${MAX_CONCURRENCY}, or auto.`)
}
