// Checks of whole inputs, composed of the checks of their fields.

import { invalid } from '../core/errors.ts'
import type { WireObject } from './contract.ts'
import { checkRequired, show } from './checks.ts'

/** Returns the value as it will be sent. Throws ERR_UPLOAD_INVALID_ARGUMENT for a value that cannot be used. */
export type Check = (value: unknown, label: string) => unknown

/**
 * Checks every field that the type of the input has, in the order of `checks`. Returns the fields that have a value,
 * and nothing else of the input. `label` names an input that is a part of another.
 */
export function checkFields<TInput extends object>(
  input: TInput,
  checks: { readonly [TName in keyof TInput]-?: Check },
  label?: string,
): WireObject {
  // Hosts written in plain JavaScript may have given none.
  checkRequired(input, label ?? 'input')
  const place = label === undefined ? '' : `${label}.`
  const checked = Object.entries<Check>(checks).map(
    ([name, check]) => [name, check(input[name as keyof TInput], place + name)] as const,
  )
  return Object.fromEntries(checked.filter(([, value]) => value !== undefined))
}

/** Makes a check optional. `absent` is what a missing value becomes. */
export function optional(check: Check, absent?: unknown): Check {
  return (value, label) => (value === undefined ? absent : check(value, label))
}

/**
 * Checks an array of at least `least` entries (default 1). `isUnique` refuses equal entries, `uniqueField` entries with
 * an equal value in that field.
 */
export function listOf(check: Check, { least = 1, isUnique = false, uniqueField }: ListRules = {}): Check {
  return (value, label) => {
    const list = checkRequired(value, label)
    if (!Array.isArray(list)) return invalid(`${label} is ${show(list)}: give an array.`, { field: label })
    if (list.length < least) invalid(`${label} is empty: give at least one.`, { field: label })
    // Array.from also visits the holes of an array, which map skips and JSON fills with null.
    const entries = Array.from(list, (entry, index) => check(entry, `${label}[${index}]`))
    if (isUnique) checkUnique(entries, label)
    if (uniqueField !== undefined) {
      const values = entries.map((entry) => (entry as WireObject)[uniqueField])
      checkUnique(
        values.filter((each) => each !== undefined),
        `${label}[].${uniqueField}`,
      )
    }
    return entries
  }
}

interface ListRules {
  readonly least?: number
  readonly isUnique?: boolean
  readonly uniqueField?: string
}

function checkUnique(values: readonly unknown[], label: string): void {
  const seen = new Set<unknown>()
  for (const value of values) {
    if (seen.has(value)) invalid(`${label} has ${show(value)} more than once: give each one once.`, { field: label })
    seen.add(value)
  }
}
