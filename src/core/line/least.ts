// The least value within a time, such as what a round trip takes when nothing waits, as far as that was ever seen. Pure.

export interface Least {
  add(value: number, atMs: number): void
  /** Infinity before the first value. The newest values count even when they are older than the time. */
  least(atMs: number): number
}

/** Values are kept by tenths of the time, so that a long one takes no more memory than a short one. */
export function createLeast(withinMs: number): Least {
  const slots: { readonly fromMs: number; least: number }[] = []
  return {
    add(value, atMs) {
      const newest = slots.at(-1)
      if (newest !== undefined && atMs < newest.fromMs + withinMs / 10) newest.least = Math.min(newest.least, value)
      else slots.push({ fromMs: atMs, least: value })
    },
    least(atMs) {
      while (slots.length > 1 && (slots[0]?.fromMs ?? 0) < atMs - withinMs) slots.shift()
      return slots.reduce((least, slot) => Math.min(least, slot.least), Infinity)
    },
  }
}
