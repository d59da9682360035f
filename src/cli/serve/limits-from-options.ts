// The limits of `serve`: each from its option or else from the environment. Otherwise the service's own default applies.

import type { Command } from 'commander'
import type { ServiceLimits } from '../../service/index.ts'
import type { Environment } from '../options/credentials-from-options.ts'
import { optionOrVariable } from '../options/option-or-variable.ts'
import { parseInteger, parseSize } from '../options/option-values.ts'

export interface LimitOptions {
  readonly callsPerMinute?: string
  readonly refusalsPerMinute?: string
  readonly maxOpenSessions?: string
  readonly maxFiles?: string
  readonly maxNames?: string
  readonly maxBody?: string
  readonly trustedProxies?: string
}

export function addLimitOptions(command: Command): Command {
  return command
    .optionsGroup('Limits, each also as MOCAP_CALLS_PER_MINUTE and so on:')
    .option('--calls-per-minute <n>', 'of one organisation; more are answered 429; 0 is no limit (default: 30000)')
    .option('--refusals-per-minute <n>', 'calls of one address with improper credentials; 0 is no limit (default: 300)')
    .option('--max-open-sessions <n>', 'unfinished video sessions of one organisation; 0 is no limit (default: 10000)')
    .option('--max-files <n>', 'files in one video session (default: 10000)')
    .option('--max-names <n>', 'names in one registration of capture files (default: 10000)')
    .option('--max-body <size>', 'largest JSON body of a call (default: 16MiB)')
    .option('--trusted-proxies <n>', 'proxies in front whose X-Forwarded-For is believed (default: 0)')
}

type Parse = (text: string, label: string) => number

/** Throws if a limit is not a number. The service checks the ranges. */
export function limitsFromOptions(
  options: LimitOptions,
  env: Environment,
): { readonly limits: ServiceLimits; readonly trustedProxies: number | undefined } {
  const valueOf = (option: string | undefined, flag: string, parse: Parse = parseInteger) => {
    const said = optionOrVariable(option, flag, env)
    return said === undefined ? undefined : parse(said.text, said.label)
  }
  const limits: Record<keyof ServiceLimits, number | undefined> = {
    callsPerMinute: valueOf(options.callsPerMinute, '--calls-per-minute'),
    refusalsPerMinute: valueOf(options.refusalsPerMinute, '--refusals-per-minute'),
    openSessions: valueOf(options.maxOpenSessions, '--max-open-sessions'),
    filesPerSession: valueOf(options.maxFiles, '--max-files'),
    namesPerCall: valueOf(options.maxNames, '--max-names'),
    bodyBytes: valueOf(options.maxBody, '--max-body', parseSize),
  }
  return { limits, trustedProxies: valueOf(options.trustedProxies, '--trusted-proxies') }
}
