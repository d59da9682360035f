// Checks of whole inputs, made of the checks of their fields.

import { invalid } from '../core/errors.ts'
import type { WireObject } from './contract.ts'
import { checkRequired, show } from './checks.ts'

/** Gives the value as it is sent. Throws ERR_UPLOAD_INVALID_ARGUMENT for one that will not do. */
export type Check = (value: unknown, label: string) => unknown

/** Checks every field that the type of the input has, in the order named; gives those that have a value, and nothing else of it. */
export function checkFields<TInput extends object>(
  input: TInput,
  checks: { readonly [TName in keyof TInput]-?: Check },
  place = '',
): WireObject {
  const checked = Object.entries<Check>(checks).map(
    ([name, check]) => [name, check(input[name as keyof TInput], place + name)] as const,
  )
  return Object.fromEntries(checked.filter(([, value]) => value !== undefined))
}

/** `absent`: what stands for a value that is not given. */
export function optional(check: Check, absent?: unknown): Check {
  return (value, label) => (value === undefined ? absent : check(value, label))
}

/** An array with at least so many entries (default 1), each entry once, or each value of one of their fields. */
export function listOf(check: Check, { least = 1, isUnique = false, uniqueField }: ListRules = {}): Check {
  return (value, label) => {
    const list = checkRequired(value, label)
    if (!Array.isArray(list)) return invalid(`${label} is ${show(list)}: give an array.`, { field: label })
    if (list.length < least) invalid(`${label} is empty: give at least one.`, { field: label })
    // Array.from visits the holes of a list too, which map passes over and JSON fills with null.
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
