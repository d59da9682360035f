// Long work in small steps: whoever runs it may give the thread to others in between.

/** Yields between two steps; returns the result. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Takes all steps at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
