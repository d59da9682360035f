// How work grows with its size, in steps that were run and not in time: the same on every machine, however busy it is.
// Import it before everything else: V8 counts the blocks of those functions only that it compiles after this module has
// begun to count, and of what it had compiled or optimised before next to nothing.

import { type Profiler, Session } from 'node:inspector/promises'

/** Counting goes on until the test file ends: V8 counts wrongly when it stops and begins again. */
const counting = await startCounting()

/**
 * Steps of `work` at `large` over those at `small`. A step is a run of one block of code (a function's body, a loop's, a
 * branch), as V8 counts them for coverage, in our sources and in packages. Linear work gives about large ÷ small, quadratic
 * work its square. What an array method of the runtime does without calling back is one step of whoever calls it.
 * Throws where V8 counted no blocks, or not those of every function that ran: then nothing can be said of the work.
 */
export async function growth(
  work: (size: number) => Promise<void> | void,
  small: number,
  large: number,
): Promise<number> {
  await functionsSince()
  await work(small)
  const few = stepsOf(await functionsSince())
  await work(large)
  return stepsOf(await functionsSince()) / few
}

async function startCounting(): Promise<Session> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return session
}

/** What ran since the last time that this was asked. */
async function functionsSince(): Promise<readonly Profiler.FunctionCoverage[]> {
  const { result } = await counting.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => isCounted(url))
    .flatMap(({ functions }) => functions)
    .filter(({ ranges }) => ranges.some(({ count }) => count > 0))
}

function stepsOf(functions: readonly Profiler.FunctionCoverage[]): number {
  const uncounted = functions.find(({ isBlockCoverage }) => !isBlockCoverage)
  if (uncounted !== undefined || functions.length === 0)
    throw new Error(`no steps were counted in ${uncounted?.functionName ?? 'any function'}: import growth.ts before it`)
  return functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0)
}

/** Not the test runner, nor Node itself. */
function isCounted(url: string): boolean {
  return (
    url.includes('/src/') ||
    url.includes('/test/helpers/growing-work') ||
    (url.includes('/node_modules/') && !/\/node_modules\/(@?vite|chai)/.test(url))
  )
}
