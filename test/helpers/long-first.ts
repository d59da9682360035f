// The order of the test files. Where no earlier run has left its times, as on a fresh clone, vitest takes large files for long ones.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that compute for ten seconds and more on two cores. Some are short to read, came last, and held up the end alone. */
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
 * One of the long ones after every two others at the beginning, which are those in a browser: they wait half of their time, and the
 * long ones fill it. Otherwise as vitest would.
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
