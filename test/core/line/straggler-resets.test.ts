// Which attempts may be reset for crawling, and how often a part is.

import { expect, it } from 'vitest'
import type { Attempt } from '../../../src/core/attempt/attempt.ts'
import { createStragglerResets } from '../../../src/core/line/straggler-resets.ts'

const unit = { fileIndex: 0, partNumber: 1, start: 0, end: 100 }

function attempt(fields: Partial<Attempt> = {}): Attempt {
  return { unit, isSending: true, isHung: undefined, controller: new AbortController(), ...fields } as Attempt
}

it('resets one that sends, whose source does not hang and that was not aborted; no part more than twice', () => {
  let isSpared: (attempt: Attempt) => boolean = () => false
  const seen: (readonly Attempt[])[] = []
  const resets = createStragglerResets((spared = () => false) => {
    isSpared = spared
    return {
      look(moving) {
        seen.push(moving)
        return moving[0]
      },
    }
  })
  const opening = attempt({ isSending: false })
  const hung = attempt({ isHung: true })
  const tries = [attempt({ isHung: false }), attempt(), attempt()]
  const other = attempt({ unit: { ...unit, partNumber: 2 } })
  const spared = tries.map((moving) => {
    const was = isSpared(moving)
    resets.look([opening, hung, ...tries.slice(0, tries.indexOf(moving)), moving], 0, true)
    return was
  })
  resets.look([opening, hung], 0, true)

  expect(seen).toEqual([...tries.map((moving) => [moving]), []])
  expect(spared).toEqual([false, false, true])
  expect(isSpared(other)).toBe(false)
  expect([...tries, opening, hung].map(({ controller }) => controller.signal.aborted)).toEqual([
    ...[true, true, true],
    ...[false, false],
  ])
})
