// Maps numbers to positions on a plot, linearly or by powers of two, and chooses the marks of an axis.

export interface Scale {
  /** The position of a value. */
  place(value: number): number
}

/** Linear scale that maps `domain` to `range`. The ends of the domain must differ. */
export function linearScale(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain
  if (!(high > low)) throw new Error('A scale needs two different ends.')
  return { place: (value) => range[0] + ((value - low) / (high - low)) * (range[1] - range[0]) }
}

/** Logarithmic scale on which every doubling takes the same step, for part sizes and numbers of connections. Values must be above 0. */
export function doublingScale(domain: readonly [number, number], range: readonly [number, number]): Scale {
  if (!(domain[0] > 0)) throw new Error('A scale of doublings begins above 0.')
  const linear = linearScale([Math.log2(domain[0]), Math.log2(domain[1])], range)
  return { place: (value) => linear.place(Math.log2(value)) }
}

/** Round marks from 0 up to at least `most`, in at most `count` steps of 1, 2 or 5 times a power of ten. */
export function roundMarks(most: number, count = 5): number[] {
  if (!(most > 0)) return [0, 1]
  const rough = most / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10)
  // Multiplied and rounded instead of added up, because 0.1 + 0.2 is not a round mark.
  const marks = Array.from({ length: Math.ceil((most / step) * 0.999) + 1 }, (_, index) => index * step)
  return marks.map((mark) => Number(mark.toPrecision(12)))
}
