// Asks a disk or drive many small questions, several at a time: enough to hide its latency, few enough for memory and for any
// limit on open files.

const AT_ONCE = 16

/** Answers in the order of the items. Rejects with the first failure, after which no further batch begins. */
export async function inBatches<T, R>(
  items: readonly T[],
  ask: (item: T, index: number) => Promise<R> | R,
): Promise<R[]> {
  const answers: R[] = []
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const some = items.slice(from, from + AT_ONCE)
    answers.push(...(await Promise.all(some.map((item, index) => ask(item, from + index)))))
  }
  return answers
}
