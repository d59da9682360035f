// Which of the tries of files that cannot be read for a moment are news: a drive that is away fails each of its files every few seconds.

/** After this long without it, a reason why files cannot be read is news again, ms: it is another outage of their drive. */
const SAME_TROUBLE_MS = 300_000

/** Whether a trouble is news, which is told once for as long as it goes on. `nowMs` is monotonic. */
export function troubleNews(nowMs: () => number): (trouble: string) => boolean {
  const heardAtMs = new Map<string, number>()
  return (trouble) => {
    const before = heardAtMs.get(trouble) ?? -Infinity
    heardAtMs.set(trouble, nowMs())
    return nowMs() - before >= SAME_TROUBLE_MS
  }
}

/** Why a file cannot be read, without its path and the place in it. */
export function troubleOf(message: string): string {
  return message.replace(/^".*"/, '').replace(/\d+/g, '')
}
