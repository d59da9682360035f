// How work grows with its size, in steps that were run and not in time: the same on every machine, however busy it is.

import { Session } from 'node:inspector/promises'

/** Counting, once begun, goes on until the test file ends: V8 counts wrongly when it stops and begins again. */
let counting: Session | undefined

/**
 * Steps of `work` at `large` over those at `small`. A step is a run of one block of code (a function's body, a loop's, a
 * branch), as V8 counts them for coverage, in our sources and in packages. Linear work gives about large ÷ small, quadratic
 * work its square. What an array method of the runtime does without calling back is one step of whoever calls it.
 */
export async function growth(
  work: (size: number) => Promise<void> | void,
  small: number,
  large: number,
): Promise<number> {
  counting ??= await startCounting()
  await stepsSince(counting)
  await work(small)
  const few = await stepsSince(counting)
  await work(large)
  return (await stepsSince(counting)) / few
}

async function startCounting(): Promise<Session> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return session
}

/** Steps since the last time that this was asked. */
async function stepsSince(session: Session): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const functions = result.filter(({ url }) => isCounted(url)).flatMap((script) => script.functions)
  return functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0)
}

/** Not the test runner, nor Node itself. */
function isCounted(url: string): boolean {
  return url.includes('/src/') || (url.includes('/node_modules/') && !/\/node_modules\/(@?vite|chai)/.test(url))
}
