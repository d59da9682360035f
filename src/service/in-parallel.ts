// A bounded number of calls at once. All of them have ended when it settles, so that none surprises anybody later.

/** Results in the order of the items. Rejects with the first failure, once all calls under way have ended. */
export async function inParallel<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const failures: unknown[] = []
  // All workers share one iterator, so that each item is taken once.
  const entries = items.entries()
  const worker = async () => {
    for (const [index, item] of entries) {
      if (failures.length > 0) return
      try {
        results[index] = await work(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
  return results
}
