// Work with a known growth, for the test of the helper that measures growth.

/** One step for each of `size` items. */
export function linearWork(size: number): number {
  let sum = 0
  for (let index = 0; index < size; index += 1) sum += index
  return sum
}

/** `size` steps for each of `size` items. */
export function quadraticWork(size: number): number {
  let sum = 0
  for (let index = 0; index < size; index += 1) sum += linearWork(size)
  return sum
}
