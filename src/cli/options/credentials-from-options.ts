// The service's credentials, from the environment or a file, and never from the command line, where `ps` shows them.

import { stat } from 'node:fs/promises'
import { errorCode } from '../../adapters/node/file-problem.ts'
import { checkSecret, type Credentials } from '../../client/credentials.ts'
import { invalid } from '../../core/errors.ts'
import { asOption, isReadOnce, readText } from './option-values.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface CredentialOptions {
  readonly apiKeyFile?: string
  readonly accessTokenFile?: string
}

const SECRET_FLAG = /^--?(?:x-)?(?:api-?key|access-?token|token|key|bearer|password|secret)(?:=|$)/i

/** Throws if an argument looks like a flag for a credential. The message does not repeat the value. */
export function refuseSecretsOnCommandLine(args: readonly string[]): void {
  const end = args.indexOf('--')
  const found = args.slice(0, end < 0 ? undefined : end).find((arg) => SECRET_FLAG.test(arg))
  if (found === undefined) return
  invalid(
    `${found.replace(/=.*$/s, '')} is refused: on the command line every user of this machine can read it. ` +
      'Put the key into MOCAP_API_KEY or a file named by --api-key-file, a token into MOCAP_ACCESS_TOKEN or --access-token-file.',
  )
}

type Kind = keyof Credentials

/** The secret, if a header can carry it. What a file holds later is checked by the client, when it is asked for. */
function usable(secret: string, label: string, kind: Kind): string {
  asOption(label, kind, () => checkSecret(secret, kind))
  return secret
}

/** The credential that is given. Undefined if there is none. Rejects if both kinds are given. */
export async function findCredentials(options: CredentialOptions, env: Environment): Promise<Credentials | undefined> {
  const { apiKeyFile, accessTokenFile } = options
  const apiKey = env['MOCAP_API_KEY'] || undefined
  const accessToken = env['MOCAP_ACCESS_TOKEN'] || undefined
  const keyFrom = apiKeyFile === undefined ? apiKey && 'MOCAP_API_KEY' : '--api-key-file'
  const tokenFrom = accessTokenFile === undefined ? accessToken && 'MOCAP_ACCESS_TOKEN' : '--access-token-file'
  if (keyFrom !== undefined && tokenFrom !== undefined) {
    return invalid(`Both an API key (${keyFrom}) and an access token (${tokenFrom}) are given: give only one.`)
  }
  if (apiKeyFile !== undefined) return { apiKey: await renewable(apiKeyFile, '--api-key-file', 'apiKey') }
  if (accessTokenFile !== undefined)
    return { accessToken: await renewable(accessTokenFile, '--access-token-file', 'accessToken') }
  if (apiKey !== undefined) return { apiKey: usable(apiKey, 'MOCAP_API_KEY', 'apiKey') }
  if (accessToken === undefined) return undefined
  return { accessToken: usable(accessToken, 'MOCAP_ACCESS_TOKEN', 'accessToken') }
}

/**
 * The secret is read again when the service refuses it, so a key or token can be renewed during an upload by writing the file. What a
 * pipe held is gone once it was read.
 */
async function renewable(path: string, label: string, kind: Kind): Promise<string | (() => Promise<string>)> {
  // Asked first: a descriptor of this process is gone with what it held.
  const isOnce = await isReadOnce(path).catch(() => false)
  const secret = usable(await readSecret(path, label), label, kind)
  return isOnce ? secret : () => readSecret(path, label)
}

/** What the system says of a path that leads nowhere, such as a key that was given in the place of its file. */
const NOWHERE: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']

async function readSecret(path: string, label: string): Promise<string> {
  // The path is then not repeated.
  if (NOWHERE.includes(await stat(path).then(() => undefined, errorCode))) {
    invalid(`${label}: there is nothing at this path. Name the file that holds the secret, and not the secret itself.`)
  }
  const secret = (await readText(path, label)).replace(/\r?\n$/, '')
  return secret === '' ? invalid(`${label}: "${path}" is empty.`) : secret
}
