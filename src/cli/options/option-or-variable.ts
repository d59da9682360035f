// An option of `serve` that the environment can give as well: `--max-files` or else MOCAP_MAX_FILES.

import type { Environment } from './credentials-from-options.ts'

/** The value of an option, and the name under which it was given, for messages. */
export interface Said {
  readonly text: string
  readonly label: string
}

/** The option, if it was given. Otherwise its variable, if that is not empty. Otherwise undefined. */
export function optionOrVariable(option: string | undefined, flag: string, env: Environment): Said | undefined {
  if (option !== undefined) return { text: option, label: flag }
  const label = `MOCAP_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`
  const text = env[label]
  return text ? { text, label } : undefined
}
