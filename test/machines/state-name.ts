// One word for a state: `cancelling.telling`, or how it ended.

interface Snapshot {
  readonly value: unknown
  readonly context: object
}

/** Joins a nested state value with dots; the machines here have no parallel states. */
export function stateName({ value, context }: Snapshot): string {
  if (value === 'settled' && 'status' in context) return String(context.status)
  if (typeof value === 'string') return value
  return Object.entries(value as object)
    .map(([parent, child]) => `${parent}.${stateName({ value: child, context })}`)
    .join('+')
}
