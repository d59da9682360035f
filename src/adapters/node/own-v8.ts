// Which V8 this is, for code that changes one of its flags: only if the flag is known, and nobody else has chosen it.

/** What is asked of `process`. */
export type ProcessFacts = Pick<typeof process, 'versions' | 'execArgv' | 'env'>

/**
 * For example `11.3`. Undefined if another engine or program is in charge, or if whoever started the process chose
 * `flag`.
 */
export function ownV8(flag: string, { versions, execArgv, env }: ProcessFacts): string | undefined {
  const given = `${execArgv.join(' ')} ${env['NODE_OPTIONS'] ?? ''}`.replaceAll('_', '-')
  // Bun names a V8 that it does not have. Electron freezes the flags of its own.
  if (given.includes(flag) || 'bun' in versions || 'electron' in versions) return undefined
  return versions.v8.split('.', 2).join('.')
}
