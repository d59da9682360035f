// Work whose growth is known, for the test of the helper that measures growth.

/** One step for each of `size` things. */
export function linearWork(size: number): number {
  let sum = 0
  for (let index = 0; index < size; index += 1) sum += index
  return sum
}

/** As many steps for each of `size` things as there are things. */
export function quadraticWork(size: number): number {
  let sum = 0
  for (let index = 0; index < size; index += 1) sum += linearWork(size)
  return sum
}
