import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planFile, partRange, type FilePlan } from '../../src/core/plan.ts'
import type { Unit } from '../../src/core/ports.ts'
import { createProgress, type Progress } from '../../src/core/progress.ts'

const unit = (partNumber: number, fileIndex = 0): Unit => ({
  fileIndex,
  partNumber,
  start: (partNumber - 1) * 100,
  end: partNumber * 100,
})

describe('sent and confirmed', () => {
  it('counts what is on its way as sent and what has a receipt as both', () => {
    const progress = createProgress([300, 100])
    progress.onSent(unit(1), 60, 0)
    progress.onSent(unit(1), 100, 10)
    progress.onReceived(unit(1))
    progress.onSent(unit(2), 40, 30)
    progress.onSent(unit(1, 1), 70, 30)

    expect(progress.snapshot(40)).toMatchObject({ sentBytes: 210, confirmedBytes: 100, totalBytes: 400 })
    expect(progress.file(0)).toMatchObject({ sentBytes: 140, confirmedBytes: 100 })
    expect(progress.file(1)).toMatchObject({ sentBytes: 70, confirmedBytes: 0 })
  })

  it('takes back what an attempt sent in vain', () => {
    const progress = createProgress([300])
    progress.onSent(unit(1), 90, 0)
    progress.onAttemptEnded(unit(1))
    expect(progress.file(0).sentBytes).toBe(0)
    progress.onSent(unit(1), 20, 20)

    expect(progress.file(0)).toMatchObject({ sentBytes: 20, confirmedBytes: 0 })
  })

  it('counts a receipt once, and nothing that is sent of it later', () => {
    const progress = createProgress([300])
    progress.onReceived(unit(1))
    progress.onReceived(unit(1))
    progress.onSent(unit(1), 50, 0)
    progress.onAttemptEnded(unit(1))

    expect(progress.file(0)).toMatchObject({ sentBytes: 100, confirmedBytes: 100 })
  })

  it('lets confirmed fall only when a receipt is voided, and counts the part anew', () => {
    const progress = createProgress([300])
    progress.onReceived(unit(1))
    progress.onReceived(unit(2))
    progress.onVoided(unit(1))
    progress.onVoided(unit(3))
    expect(progress.file(0)).toMatchObject({ sentBytes: 100, confirmedBytes: 100 })
    progress.onSent(unit(1), 100, 0)
    progress.onReceived(unit(1))

    expect(progress.file(0)).toMatchObject({ sentBytes: 200, confirmedBytes: 200 })
  })

  it('joins a part that the far end takes in pieces', () => {
    const progress = createProgress([100])
    progress.onReceived({ fileIndex: 0, partNumber: 1, start: 0, end: 30 })
    const rest = { fileIndex: 0, partNumber: 1, start: 30, end: 100 }
    progress.onSent(rest, 20, 0)
    expect(progress.file(0)).toMatchObject({ sentBytes: 50, confirmedBytes: 30 })
    progress.onReceived(rest)

    expect(progress.file(0)).toMatchObject({ sentBytes: 100, confirmedBytes: 100 })
  })

  it('counts no byte twice when a part of which a piece has a receipt is sent whole', () => {
    const progress = createProgress([100])
    progress.onReceived({ fileIndex: 0, partNumber: 1, start: 0, end: 30 })
    progress.onSent(unit(1), 20, 0)
    expect(progress.file(0).sentBytes).toBe(30)
    progress.onSent(unit(1), 90, 0)

    expect(progress.file(0)).toMatchObject({ sentBytes: 90, confirmedBytes: 30 })
  })

  it('never believes more than a part is long', () => {
    const progress = createProgress([300])
    progress.onSent(unit(1), 5_000, 0)
    expect(progress.file(0).sentBytes).toBe(100)
    progress.onSent(unit(1), -5, 0)
    expect(progress.file(0).sentBytes).toBe(0)
  })

  it('is complete for empty files', () => {
    const progress = createProgress([0])
    progress.onReceived({ fileIndex: 0, partNumber: 1, start: 0, end: 0 })

    expect(progress.snapshot(0)).toEqual({
      sentBytes: 0,
      confirmedBytes: 0,
      totalBytes: 0,
      bytesPerSecond: 0,
      remainingMs: 0,
    })
  })
})

describe('rate and time left', () => {
  it('are those of the line from the first second on, though buffers take the beginning of each part at once', () => {
    const partBytes = 15_000_000
    const progress = createProgress([4 * partBytes])
    const sendAt = (ms: number): void => {
      for (const [index, beginsAtMs] of [0, 20, 40, 150].entries()) {
        const place = { fileIndex: 0, partNumber: index + 1, start: index * partBytes, end: (index + 1) * partBytes }
        if (ms >= beginsAtMs) progress.onSent(place, 1_200_000 + (ms - beginsAtMs) * 250, ms)
      }
    }
    for (let ms = 0; ms <= 1300; ms += 10) sendAt(ms)

    const { bytesPerSecond, remainingMs } = progress.snapshot(1300)
    expect(bytesPerSecond / 1e6).toBeCloseTo(1, 1)
    expect(remainingMs! / 1000).toBeCloseTo(54, 0)
  })

  it('knows neither before a second of sending', () => {
    const progress = createProgress([100_000])
    const body = { fileIndex: 0, partNumber: 1, start: 0, end: 100_000 }
    expect(progress.snapshot(60_000)).toMatchObject({ bytesPerSecond: 0, remainingMs: undefined })
    progress.onSent(body, 100, 60_000)
    progress.onSent(body, 1_000, 60_500)

    expect(progress.snapshot(60_500)).toMatchObject({ bytesPerSecond: 0, remainingMs: undefined })
  })

  it('is right from the first seconds on, whatever was before the first bytes', () => {
    const progress = createProgress([1_000_000])
    progress.snapshot(0)
    progress.onSent({ fileIndex: 0, partNumber: 1, start: 0, end: 1_000_000 }, 0, 50_000)
    steady(progress, 60_000, 63_000, 1_000)
    const { bytesPerSecond, remainingMs } = progress.snapshot(63_000)

    expect(bytesPerSecond).toBeGreaterThan(980)
    expect(bytesPerSecond).toBeLessThan(1_030)
    expect(remainingMs).toBeGreaterThan(960_000)
    expect(remainingMs).toBeLessThan(1_020_000)
  })

  it('follows a line that becomes slower within some seconds, and does not jump at once', () => {
    const progress = createProgress([1_000_000])
    let sent = steady(progress, 0, 20_000, 10_000)
    sent = steady(progress, 20_000, 21_000, 1_000, sent)
    expect(progress.snapshot(21_000).bytesPerSecond).toBeGreaterThan(7_000)
    steady(progress, 21_000, 40_000, 1_000, sent)

    expect(progress.snapshot(40_000).bytesPerSecond).toBeLessThan(1_300)
    expect(progress.snapshot(40_000).bytesPerSecond).toBeGreaterThan(950)
  })

  it('says that it does not know how long when nothing moves', () => {
    const progress = createProgress([1_000_000])
    steady(progress, 0, 10_000, 1_000)
    const leftMs = progress.snapshot(10_000).remainingMs!

    // The rate falls with every second that nothing comes, and the time left would run away with it, to days.
    expect(progress.snapshot(14_900).remainingMs).toBeLessThan(3 * leftMs)
    expect(progress.snapshot(15_100)).toMatchObject({ remainingMs: undefined })
    expect(progress.snapshot(15_100).bytesPerSecond).toBeGreaterThan(0)
    expect(progress.snapshot(100_000)).toMatchObject({ remainingMs: undefined })
  })

  it('takes the same number told again for nothing new', () => {
    const [told, silent] = [createProgress([1_000_000]), createProgress([1_000_000])]
    for (const progress of [told, silent]) steady(progress, 0, 10_000, 1_000)
    steady(told, 10_100, 16_000, 0, 10_100)

    expect(told.snapshot(16_000).bytesPerSecond).toBeCloseTo(silent.snapshot(16_000).bytesPerSecond)
    expect(told.snapshot(16_000).remainingMs).toBeUndefined()
  })

  it('measures the line, also when an attempt was in vain', () => {
    const progress = createProgress([1_000_000])
    const sent = steady(progress, 0, 5_000, 1_000)
    progress.onAttemptEnded({ fileIndex: 0, partNumber: 1, start: 0, end: 1_000_000 })
    expect(sent).toBe(5_100)
    steady(progress, 5_000, 10_000, 1_000)

    expect(progress.snapshot(10_000).bytesPerSecond).toBeGreaterThan(970)
    expect(progress.snapshot(10_000).bytesPerSecond).toBeLessThan(1_050)
  })

  it('measures an attempt that begins anew without a word about the one before', () => {
    const progress = createProgress([1_000_000])
    steady(progress, 0, 5_000, 1_000)
    steady(progress, 5_100, 5_500, 1_000)

    expect(progress.snapshot(5_500).bytesPerSecond).toBeGreaterThan(950)
  })

  it('does not take what an earlier run received for speed', () => {
    const progress = createProgress([1_000_000_000])
    progress.onReceived({ fileIndex: 0, partNumber: 1, start: 0, end: 900_000_000 })

    expect(progress.snapshot(10_000)).toMatchObject({ confirmedBytes: 900_000_000, bytesPerSecond: 0 })
  })
})

describe('always', () => {
  it('has 0 ≤ confirmed ≤ sent ≤ total, whatever happens in whatever order, voids alone lower confirmed, and it ends at the total', () => {
    const file = fc.record({
      sizeBytes: fc.integer({ min: 0, max: 2_000 }),
      partBytes: fc.integer({ min: 50, max: 500 }),
    })
    const step = fc.record({
      verb: fc.constantFrom('sent', 'received', 'piece', 'ended', 'voided'),
      file: fc.nat(),
      part: fc.nat(),
      bytes: fc.integer({ min: -10, max: 600 }),
      afterMs: fc.integer({ min: 0, max: 3_000 }),
    })
    fc.assert(
      fc.property(
        fc.array(file, { minLength: 1, maxLength: 4 }),
        fc.array(step, { maxLength: 120 }),
        (files, steps) => {
          const limits = { minBytes: 0, maxBytes: 1e6, maxCount: 1_000, multipleOfBytes: 1 }
          const plans = files.map(({ sizeBytes, partBytes }) =>
            planFile({ name: 'a', sizeBytes, limits, partSizeBytes: partBytes }),
          )
          const fileSizes = files.map(({ sizeBytes }) => sizeBytes)
          const progress = createProgress(fileSizes)
          let now = 0
          for (const { verb, file: filePick, part, bytes, afterMs } of steps) {
            now += afterMs
            const fileIndex = filePick % files.length
            const target = unitOf(plans[fileIndex]!, files[fileIndex]!.sizeBytes, fileIndex, part)
            const { confirmedBytes } = progress.file(fileIndex)
            if (verb === 'sent') progress.onSent(target, bytes, now)
            if (verb === 'received') progress.onReceived(target)
            const piece = Math.min(Math.max(0, bytes), target.end - target.start)
            if (verb === 'piece') progress.onReceived({ ...target, end: target.start + piece })
            if (verb === 'ended') progress.onAttemptEnded(target)
            if (verb === 'voided') progress.onVoided(target)
            checkOrder(progress, fileSizes, now)
            if (verb !== 'voided')
              expect(progress.file(fileIndex).confirmedBytes).toBeGreaterThanOrEqual(confirmedBytes)
          }
          for (const [fileIndex, plan] of plans.entries()) {
            for (let part = 0; part < plan.partCount; part += 1) {
              progress.onReceived(unitOf(plan, files[fileIndex]!.sizeBytes, fileIndex, part))
            }
          }
          const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
          expect(progress.snapshot(now)).toMatchObject({
            sentBytes: total,
            confirmedBytes: total,
            totalBytes: total,
            remainingMs: 0,
          })
        },
      ),
    )
  })
})

function checkOrder(progress: Progress, fileSizes: readonly number[], now: number): void {
  const whole = progress.snapshot(now)
  const files = fileSizes.map((totalBytes, fileIndex) => ({ ...progress.file(fileIndex), totalBytes }))
  for (const { sentBytes, confirmedBytes, totalBytes } of [whole, ...files]) {
    expect(confirmedBytes).toBeGreaterThanOrEqual(0)
    expect(sentBytes).toBeGreaterThanOrEqual(confirmedBytes)
    expect(totalBytes).toBeGreaterThanOrEqual(sentBytes)
  }
  expect(whole.sentBytes).toBe(files.reduce((sum, { sentBytes }) => sum + sentBytes, 0))
  expect(whole.confirmedBytes).toBe(files.reduce((sum, { confirmedBytes }) => sum + confirmedBytes, 0))
  expect(Number.isFinite(whole.bytesPerSecond) && whole.bytesPerSecond >= 0).toBe(true)
}

function unitOf(plan: FilePlan, sizeBytes: number, fileIndex: number, part: number): Unit {
  const partNumber = (part % plan.partCount) + 1
  return { fileIndex, partNumber, ...partRange(plan, sizeBytes, partNumber) }
}

/** Sends at an even rate in steps of 100 ms; returns the bytes of the attempt so far. */
function steady(progress: Progress, fromMs: number, toMs: number, bytesPerSecond: number, alreadyBytes = 0): number {
  const body = { fileIndex: 0, partNumber: 1, start: 0, end: 1_000_000 }
  let sent = alreadyBytes
  for (let now = fromMs; now <= toMs; now += 100) {
    sent += bytesPerSecond / 10
    progress.onSent(body, sent, now)
  }
  return sent
}
