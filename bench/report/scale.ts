// From numbers to places on a plot: linear or by powers of two, and where an axis gets its marks.

export interface Scale {
  /** The place of a value. */
  place(value: number): number
}

/** Even steps: `domain` is spread over `range`. Both ends of a domain must differ. */
export function linearScale(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain
  if (!(high > low)) throw new Error('A scale needs two different ends.')
  return { place: (value) => range[0] + ((value - low) / (high - low)) * (range[1] - range[0]) }
}

/** Doubling takes the same step everywhere: for part sizes and numbers of connections. Values must be above 0. */
export function doublingScale(domain: readonly [number, number], range: readonly [number, number]): Scale {
  if (!(domain[0] > 0)) throw new Error('A scale of doublings begins above 0.')
  const linear = linearScale([Math.log2(domain[0]), Math.log2(domain[1])], range)
  return { place: (value) => linear.place(Math.log2(value)) }
}

/** Round marks from 0 up to at least `most`: steps of 1, 2 or 5 times a power of ten, `count` of them or fewer. */
export function roundMarks(most: number, count = 5): number[] {
  if (!(most > 0)) return [0, 1]
  const rough = most / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10)
  // Multiplied and rounded, not added up: 0.1 + 0.2 is no mark.
  const marks = Array.from({ length: Math.ceil((most / step) * 0.999) + 1 }, (_, index) => index * step)
  return marks.map((mark) => Number(mark.toPrecision(12)))
}
