import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCircuit, type Circuit } from '../../../src/core/transfer/circuit.ts'

const MINUTE_MS = 60_000

describe('opening', () => {
  it('opens after three failures without an answer between them', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.onFailure(0)
    circuit.onFailure(10)
    expect(circuit.state(10)).toEqual({ kind: 'closed' })
    circuit.onSuccess(20)
    circuit.onFailure(30)
    circuit.onFailure(40)
    expect(circuit.state(50)).toEqual({ kind: 'closed' })

    circuit.onFailure(60)

    expect(circuit.state(60)).toEqual({ kind: 'open', sinceMs: 60, untilMs: 1_060, giveUpAtMs: 3_600_060 })
    expect(circuit.state(1_059).kind).toBe('open')
    expect(circuit.state(1_060)).toEqual({ kind: 'probing', sinceMs: 60, untilMs: 1_060, giveUpAtMs: 3_600_060 })
  })

  it('is not moved by what was under way before it opened', () => {
    const circuit = opened(60 * MINUTE_MS)
    for (let late = 0; late < 20; late += 1) circuit.onFailure(100 + late)

    expect(circuit.state(999)).toMatchObject({ kind: 'open', untilMs: 1_000 })
  })

  it('closes on any answer, and counts anew', () => {
    const circuit = opened(60 * MINUTE_MS)
    expect(circuit.state(1_000).kind).toBe('probing')
    circuit.onSuccess(1_200)
    circuit.onFailure(1_300)
    circuit.onFailure(1_400)

    expect(circuit.state(1_500)).toEqual({ kind: 'closed' })
  })
})

describe('probing', () => {
  it('probes after 1, 2, 4 … s, and never more than a minute apart', () => {
    const circuit = opened(60 * MINUTE_MS)
    const waits: number[] = []
    let now = 0
    for (let probe = 0; probe < 9; probe += 1) {
      const state = circuit.state(now)
      if (state.kind !== 'open') throw new Error(`It is ${state.kind}.`)
      waits.push((state.untilMs - now) / 1000)
      now = state.untilMs
      expect(circuit.state(now).kind).toBe('probing')
      circuit.onFailure(now)
    }

    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  it('shortens waits by a fifth at most, so that clients do not knock together', () => {
    const circuit = createCircuit({ giveUpAfterMs: MINUTE_MS, random: () => 0.5 })
    for (let failure = 0; failure < 3; failure += 1) circuit.onFailure(0)

    expect(circuit.state(0)).toMatchObject({ untilMs: 900 })
  })

  it('stays probing, however long the probe takes', () => {
    const circuit = opened(60 * MINUTE_MS)
    expect(circuit.state(1_000).kind).toBe('probing')
    expect(circuit.state(50_000).kind).toBe('probing')
    circuit.onFailure(50_000)

    expect(circuit.state(50_000)).toMatchObject({ kind: 'open', untilMs: 52_000 })
  })
})

describe('giving up', () => {
  it('gives up when the probe at the end fails, and not before', () => {
    const circuit = opened(10_000)
    const end = probeUntilGivenUp(circuit)

    expect(end).toBe(10_000)
    expect(circuit.state(99_000)).toEqual({ kind: 'givenUp', sinceMs: 0, untilMs: 10_000, giveUpAtMs: 10_000 })
  })

  it('goes on when the probe at the end gets an answer', () => {
    const circuit = opened(3_500)
    circuit.state(1_000)
    circuit.onFailure(1_000)
    circuit.state(3_000)
    circuit.onFailure(3_000)
    expect(circuit.state(3_500).kind).toBe('probing')
    circuit.onSuccess(4_000)

    expect(circuit.state(4_000)).toEqual({ kind: 'closed' })
  })

  it('does not count the time of a machine asleep or a session paused', () => {
    const circuit = opened(MINUTE_MS)
    const wokenMs = 8 * 60 * MINUTE_MS
    expect(circuit.state(wokenMs)).toMatchObject({
      kind: 'probing',
      sinceMs: 0,
      giveUpAtMs: MINUTE_MS + wokenMs - 1_000,
    })
    circuit.onFailure(wokenMs)

    expect(circuit.state(wokenMs)).toMatchObject({ kind: 'open', untilMs: wokenMs + 2_000 })
  })

  it('nor that of a machine which falls asleep during a probe, beyond five minutes', () => {
    const circuit = opened(10 * MINUTE_MS)
    expect(circuit.state(1_000).kind).toBe('probing')
    const wokenMs = 8 * 60 * MINUTE_MS
    circuit.onFailure(wokenMs)

    expect(circuit.state(wokenMs)).toMatchObject({
      ...{ kind: 'open', untilMs: wokenMs + 2_000, giveUpAtMs: wokenMs + 5 * MINUTE_MS - 1_000 },
    })
  })

  it('is over with an answer, though the host had asked for a pause, and the next outage counts anew', () => {
    const circuit = opened(1_000)
    expect(circuit.state(1_000).kind).toBe('probing')
    circuit.onRefusal(1_000, 10 * MINUTE_MS)
    expect(circuit.state(1_000).kind).toBe('givenUp')

    circuit.onSuccess(1_000)
    expect(circuit.state(1_000)).toEqual({ kind: 'closed' })
    for (let failure = 0; failure < 3; failure += 1) circuit.onFailure(2_000)
    expect(circuit.state(2_000)).toMatchObject({ kind: 'open', sinceMs: 2_000 })
  })

  it('always ends: a host that never answers is given up within the time, one probe and no more later', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), (giveUpAfterMs) => {
        const circuit = createCircuit({ giveUpAfterMs, random: () => 0.3 })
        for (let failure = 0; failure < 3; failure += 1) circuit.onFailure(0)

        expect(probeUntilGivenUp(circuit)).toBe(giveUpAfterMs)
      }),
      { numRuns: 30 },
    )
  })

  const latenessUpTo = (mostMs: number) => fc.array(fc.nat(mostMs), { minLength: 40, maxLength: 40 })

  it('takes as many probes when each of them is late, by whatever time', () => {
    fc.assert(
      fc.property(fc.oneof(latenessUpTo(5_000), latenessUpTo(60 * MINUTE_MS)), (lateMs) => {
        const probesUntilGivenUp = (lateOf: (probe: number) => number): number => {
          const circuit = opened(20 * MINUTE_MS)
          let probes = 0
          let now = 0
          for (let state = circuit.state(now); state.kind === 'open' && probes < 100; state = circuit.state(now)) {
            now = state.untilMs + lateOf(probes)
            circuit.state(now)
            circuit.onFailure(now)
            probes += 1
          }
          return probes
        }

        expect(probesUntilGivenUp((probe) => lateMs[probe] ?? 0)).toBe(probesUntilGivenUp(() => 0))
      }),
      { numRuns: 30 },
    )
  })
})

describe('a host that answers no more than: not now', () => {
  it('is out of service after three such answers in a row, where it took nothing of late', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.onSuccess(0)
    for (let refusal = 0; refusal < 50; refusal += 1) circuit.onRefusal(4_000 + refusal)
    expect(circuit.state(4_999)).toEqual({ kind: 'closed' })

    circuit.onRefusal(5_000)

    expect(circuit.state(5_000)).toMatchObject({ kind: 'open', sinceMs: 5_000, untilMs: 6_000 })
  })

  it('is in service up to five seconds after it took something, whenever that was', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.onSuccess(100_000)
    for (let refusal = 0; refusal < 5; refusal += 1) circuit.onRefusal(104_999)

    expect(circuit.state(104_999)).toEqual({ kind: 'closed' })
  })

  it.each([
    ['nothing else', 0, 'open'],
    ['one other', 1, 'closed'],
  ])(
    'that has never taken anything is out of service with the third answer, where %s is in flight',
    (_, inFlight, kind) => {
      const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
      for (const refusal of [1, 2]) circuit.onRefusal(refusal, 0, inFlight)
      expect(circuit.state(2)).toEqual({ kind: 'closed' })

      circuit.onRefusal(3, 0, inFlight)

      expect(circuit.state(3).kind).toBe(kind)
    },
  )

  it('gets the pause that it asks for, whoever of those under way is told it, and is then asked by one', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    for (let refusal = 0; refusal < 3; refusal += 1) circuit.onRefusal(0, 20_000)
    circuit.onRefusal(100, 30_000)
    circuit.onSuccess(200)

    expect(circuit.state(200)).toMatchObject({ kind: 'open', untilMs: 30_100 })
    expect(circuit.state(30_100).kind).toBe('probing')
  })

  it('always comes to its end, in whatever order it answers, refuses and is silent, and what it asks for is kept', () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 0, max: 90_000 }),
      what: fc.constantFrom('failure', 'refusal', 'pause', 'longPause'),
    })
    const pauses = { failure: undefined, refusal: 0, pause: 120_000, longPause: 1_200_000 }
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const giveUpAfterMs = 30 * MINUTE_MS
        const circuit = createCircuit({ giveUpAfterMs, random: () => 0.3 })
        let now = 0
        let askedUntilMs = 0
        for (let turn = 0; circuit.state(now).kind !== 'givenUp'; turn += 1) {
          expect(turn).toBeLessThan(10_000)
          const { what, afterMs } = steps[turn % steps.length]!
          const retryAfterMs = pauses[what]
          const state = circuit.state(now)
          if (state.kind === 'probing') expect(now).toBeGreaterThanOrEqual(Math.min(askedUntilMs, state.giveUpAtMs))
          if (retryAfterMs === undefined) circuit.onFailure(now)
          else circuit.onRefusal(now, retryAfterMs)
          const after = circuit.state(now)
          if (after.kind === 'open' && retryAfterMs !== undefined)
            askedUntilMs = Math.max(askedUntilMs, now + retryAfterMs)
          // A probe begins when it is due; some of what was under way ends meanwhile.
          const isLate = turn % 3 > 0
          const untilMs = after.kind === 'open' ? after.untilMs : now + 1
          now = isLate ? Math.min(untilMs, now + 1 + afterMs) : untilMs
        }
        expect(now).toBeLessThanOrEqual(giveUpAfterMs + 10_000)
      }),
    )
  })
})

describe('a hint that the network may be back', () => {
  it('probes at once, and decides nothing else', () => {
    const circuit = opened(60 * MINUTE_MS)
    circuit.probeNow(10)

    expect(circuit.state(10).kind).toBe('probing')
    circuit.onFailure(11)
    expect(circuit.state(11)).toMatchObject({ kind: 'open', untilMs: 2_011 })
  })

  it('does not shorten a pause that the host asked for, and does nothing to a host in reach', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.probeNow(0)
    expect(circuit.state(0)).toEqual({ kind: 'closed' })
    circuit.onRefusal(0, 10 * MINUTE_MS)

    circuit.probeNow(10)

    expect(circuit.state(10)).toMatchObject({ kind: 'open', untilMs: 10 * MINUTE_MS })
  })
})

describe('a pause that the host asked for', () => {
  it('holds everything until then, whatever answers come meanwhile, and then probes', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.onSuccess(500)
    circuit.onRefusal(500, 600_000)

    expect(circuit.state(600)).toEqual({ kind: 'open', sinceMs: 500, untilMs: 600_500, giveUpAtMs: 3_600_500 })
    circuit.onSuccess(700)
    circuit.onFailure(800)
    expect(circuit.state(600_499).kind).toBe('open')
    expect(circuit.state(600_500).kind).toBe('probing')
    circuit.onSuccess(600_900)
    expect(circuit.state(600_900)).toEqual({ kind: 'closed' })
  })

  it('is left to the parts up to five minutes, and opens at once beyond', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.onRefusal(0, 5 * MINUTE_MS)
    expect(circuit.state(0)).toEqual({ kind: 'closed' })

    circuit.onRefusal(0, 5 * MINUTE_MS + 1)
    expect(circuit.state(0).kind).toBe('open')
  })

  it('that is no number is none', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    for (let refusal = 0; refusal < 3; refusal += 1) circuit.onRefusal(0, NaN)

    expect(circuit.state(0)).toMatchObject({ kind: 'open', untilMs: 1_000 })
  })

  it('takes the later of two', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.onSuccess(0)
    circuit.onRefusal(0, 400_000)
    circuit.onRefusal(10, 300_000)

    expect(circuit.state(350_000)).toMatchObject({ kind: 'open', untilMs: 400_000 })
  })

  it('ends at the time of giving up, with a probe', () => {
    const circuit = createCircuit({ giveUpAfterMs: MINUTE_MS, random: () => 0 })
    circuit.onSuccess(0)
    circuit.onRefusal(0, 60 * MINUTE_MS)

    expect(circuit.state(0)).toMatchObject({ kind: 'open', untilMs: MINUTE_MS })
    expect(circuit.state(MINUTE_MS).kind).toBe('probing')
  })

  it('becomes an outage when its probe gets no answer', () => {
    const circuit = createCircuit({ giveUpAfterMs: 60 * MINUTE_MS, random: () => 0 })
    circuit.onSuccess(0)
    circuit.onRefusal(0, 400_000)
    expect(circuit.state(400_000).kind).toBe('probing')
    circuit.onFailure(400_100)

    expect(circuit.state(400_100)).toMatchObject({ kind: 'open', untilMs: 401_100 })
    circuit.onSuccess(400_200)
    expect(circuit.state(400_200)).toEqual({ kind: 'closed' })
  })
})

function opened(giveUpAfterMs: number): Circuit {
  const circuit = createCircuit({ giveUpAfterMs, random: () => 0 })
  for (let failure = 0; failure < 3; failure += 1) circuit.onFailure(0)
  return circuit
}

/** Lets every probe fail at once; when it was given up. */
function probeUntilGivenUp(circuit: Circuit): number {
  let now = 0
  for (let probe = 0; probe < 20_000; probe += 1) {
    const state = circuit.state(now)
    if (state.kind === 'givenUp') return now
    if (state.kind === 'open') {
      now = state.untilMs
      continue
    }
    if (state.kind !== 'probing') throw new Error(`It is ${state.kind}.`)
    circuit.onFailure(now)
  }
  throw new Error('It was never given up.')
}
