// The order of the test files. Without recorded times of an earlier run, as on a fresh clone, vitest runs large files first.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that compute for ten seconds or more on two cores. Some are short, so vitest would start them last and wait for them alone. */
const LONG = [
  'test/simulation/whole/whole.test.ts',
  'test/core/transfer/overload.test.ts',
  'test/adapters/node/hash/worker-hasher.test.ts',
  'test/core/line/concurrency-on-lines.test.ts',
  'test/security/hostile-replies.test.ts',
  'test/model/interleavings.test.ts',
  'test/adapters/node/journal/disk-journal.test.ts',
  'test/core/engine.test.ts',
]

/**
 * vitest's order, but with one long file after every two others, from the start. The first others are browser tests,
 * which wait half of the time; the long files use that time.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification) => LONG.findIndex((path) => moduleId.endsWith(`/${path}`))
    const long = sorted.filter((file) => placeOf(file) >= 0).sort((a, b) => placeOf(a) - placeOf(b))
    const others = sorted.filter((file) => placeOf(file) < 0)
    const woven = others.flatMap((file, index) => (index % 2 === 1 ? [file, ...long.splice(0, 1)] : [file]))
    return [...woven, ...long]
  }
}
