// Many small questions to a disk or a drive, some of them at once: enough to hide how slow it is, few enough for any limit of open
// files and for memory.

const AT_ONCE = 16

/** The answers in the order of the items. Rejects with the first failure; then no further batch begins. */
export async function inBatches<T, R>(items: readonly T[], ask: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const some = items.slice(from, from + AT_ONCE)
    answers.push(...(await Promise.all(some.map((item, index) => ask(item, from + index)))))
  }
  return answers
}
