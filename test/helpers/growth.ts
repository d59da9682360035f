// Measures how work grows with its size, in executed steps instead of time: the result is the same on every machine,
// however busy. Import this before everything else. V8 counts only the blocks of functions that it compiles after this
// module has begun to count, and next to nothing of what it had compiled or optimised before.

import { type Profiler, Session } from 'node:inspector/promises'

/** Counting continues until the test file ends, because V8 counts wrongly after it was stopped and started again. */
const counting = await startCounting()

/**
 * Returns the steps of `work` at `large` divided by those at `small`. A step is one execution of a block of code (the body of
 * a function or loop, a branch), as V8 counts them for coverage, in our sources and in packages. Linear work gives about large
 * ÷ small, quadratic work its square. An array method of the runtime that calls nothing back counts as one step of its caller.
 * Throws if V8 counted no blocks, or not those of every function that ran, because the result would then mean nothing.
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

/** The functions that ran since the last call. */
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

/** Excludes the test runner and Node itself. */
function isCounted(url: string): boolean {
  return (
    url.includes('/src/') ||
    url.includes('/test/helpers/growing-work') ||
    (url.includes('/node_modules/') && !/\/node_modules\/(@?vite|chai)/.test(url))
  )
}
