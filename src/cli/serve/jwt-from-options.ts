// Whose access tokens `serve` accepts, from options or the environment. Checked to be complete before anything starts.

import type { Command } from 'commander'
import { invalid } from '../../core/errors.ts'
import type { JwtOptions } from '../../service/index.ts'
import type { Environment } from '../options/credentials-from-options.ts'
import { optionOrVariable } from '../options/option-or-variable.ts'
import { readText } from '../options/option-values.ts'

export interface JwtCommandOptions {
  readonly jwtIssuer?: string
  readonly jwtAudience?: string
  readonly jwtJwksUrl?: string
  readonly jwtPublicKeyFile?: string
  readonly jwtOrgClaim?: string
  readonly jwtAlgorithms?: string
}

/** Adds the options. Each has an environment variable: MOCAP_ and its name. */
export function addJwtOptions(command: Command): void {
  command
    .optionsGroup('Access tokens of an issuer (JWT), each also as MOCAP_JWT_ISSUER and so on:')
    .option('--jwt-issuer <text>', 'what `iss` of a token must be')
    .option('--jwt-audience <text>', 'what `aud` must be, or hold')
    .option('--jwt-jwks-url <url>', 'where the issuer publishes its keys; https, or http on this machine')
    .option('--jwt-public-key-file <file>', 'its public key in PEM, instead of the URL')
    .option('--jwt-org-claim <name>', 'the claim that names the organisation (default: org_id)')
    .option('--jwt-algorithms <list>', 'signatures that are taken, separated by commas (default: RS256,ES256)')
}

/** The issuer. Undefined if none of the options is given. Rejects if one is missing or they contradict each other. */
export async function jwtFromOptions(options: JwtCommandOptions, env: Environment): Promise<JwtOptions | undefined> {
  const said = (option: string | undefined, flag: string) => optionOrVariable(option, flag, env)?.text
  const issuer = said(options.jwtIssuer, '--jwt-issuer')
  const audience = said(options.jwtAudience, '--jwt-audience')
  const jwksUrl = said(options.jwtJwksUrl, '--jwt-jwks-url')
  const keyFile = said(options.jwtPublicKeyFile, '--jwt-public-key-file')
  const orgClaim = said(options.jwtOrgClaim, '--jwt-org-claim')
  const algorithms = said(options.jwtAlgorithms, '--jwt-algorithms')
  if ([issuer, audience, jwksUrl, keyFile, orgClaim, algorithms].every((one) => one === undefined)) return undefined
  if (issuer === undefined || audience === undefined) {
    return invalid('Access tokens need both --jwt-issuer and --jwt-audience (or MOCAP_JWT_ISSUER, MOCAP_JWT_AUDIENCE).')
  }
  if ((jwksUrl === undefined) === (keyFile === undefined)) {
    return invalid(
      'Access tokens need either --jwt-jwks-url or --jwt-public-key-file (or MOCAP_JWT_JWKS_URL, MOCAP_JWT_PUBLIC_KEY_FILE).',
    )
  }
  const publicKeyPem = keyFile === undefined ? undefined : await readText(keyFile, 'The public key of access tokens')
  return {
    issuer,
    audience,
    jwksUrl,
    publicKeyPem,
    orgClaim,
    algorithms: algorithms?.split(',').map((one) => one.trim()),
  }
}
