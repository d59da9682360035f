// Numbers that JSON can carry and JavaScript cannot: ids of 64 bits lose their last digits when they are read.

/** Whether a value that was parsed from JSON holds a number so large that it may have been rounded. */
export function hasRoundedNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  return typeof value === 'object' && value !== null && Object.values(value).some(hasRoundedNumber)
}
