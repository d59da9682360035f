// An option of `serve` that the environment can give as well: `--max-files`, else MOCAP_MAX_FILES.

import type { Environment } from './credentials-from-options.ts'

/** What it says, and the name under which it was said, for a message. */
export interface Said {
  readonly text: string
  readonly label: string
}

/** The option where it was given, else its variable where that is not empty, else undefined. */
export function optionOrVariable(option: string | undefined, flag: string, env: Environment): Said | undefined {
  if (option !== undefined) return { text: option, label: flag }
  const label = `MOCAP_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`
  const text = env[label]
  return text ? { text, label } : undefined
}
