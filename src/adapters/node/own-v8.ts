// Which V8 this is, for whoever changes one of its flags: only where the flag is known, and nobody else has chosen it.

/** What is asked of `process`. */
export type ProcessFacts = Pick<typeof process, 'versions' | 'execArgv' | 'env'>

/** `11.3`, for example; undefined where another engine or program has the say, or `flag` was chosen by whoever started the process. */
export function ownV8(flag: string, { versions, execArgv, env }: ProcessFacts): string | undefined {
  const given = `${execArgv.join(' ')} ${env['NODE_OPTIONS'] ?? ''}`.replaceAll('_', '-')
  // Bun names a V8 that it does not have; Electron freezes the flags of its own.
  if (given.includes(flag) || 'bun' in versions || 'electron' in versions) return undefined
  return versions.v8.split('.', 2).join('.')
}
