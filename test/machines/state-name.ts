// One word for a state value: `uploading.sending`.

/** Joins a nested state value with dots; the machines here have no parallel states. */
export function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  return Object.entries(value as object)
    .map(([parent, child]) => `${parent}.${stateName(child)}`)
    .join('+')
}
