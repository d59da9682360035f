// Checks of a host's options. What they throw names the option and the rule, never the value, which may be a secret.

/** Throws a TypeError with the rule. */
export function check(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new TypeError(`startService: ${rule}.`)
}

/** Whether a text can travel in a header as it is. */
export function isVisibleAscii(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** Returns an integer from `least` to `most`, and throws for everything else. */
export function integerIn([least, most]: readonly [least: number, most: number], name: string, value: number): number {
  check(
    Number.isInteger(value) && value >= least && value <= most,
    `${name} must be an integer from ${least} to ${most}`,
  )
  return value
}
