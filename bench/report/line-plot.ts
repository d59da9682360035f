// A plot of lines over an axis on which every doubling takes the same step, such as part sizes. Each line has its name at its end, and
// each point shows the spread of its runs.

import { doublingScale, linearScale, roundMarks, type Scale } from './scale.ts'
import { element, FOOT_STEP, footLines, label, picture, SERIES_KINDS } from './svg.ts'

export interface LinePoint {
  readonly x: number
  readonly y: number
  /** Lowest and highest run at this x, where there were several. */
  readonly min?: number
  readonly max?: number
}

export interface LineSeries {
  readonly name: string
  readonly points: readonly LinePoint[]
}

export interface LinePlot {
  readonly title: string
  /** With the unit. */
  readonly xTitle: string
  /** With the unit. */
  readonly yTitle: string
  /** The first is ours and has the strong colour. At most six. */
  readonly series: readonly LineSeries[]
  /** Where it was measured. */
  readonly foot: string
}

const WIDTH = 760
const HEIGHT = 400
const BOX = { left: 64, right: WIDTH - 170, top: 76, bottom: HEIGHT - 72 }
/** The least distance between the names of lines, so that none covers another. */
const NAME_STEP = 16

/** Throws if there is nothing to draw or there are more series than colours. */
export function linePlot(plot: LinePlot): string {
  const points = plot.series.flatMap((series) => series.points)
  if (points.length === 0) throw new Error('A plot needs at least one point.')
  if (plot.series.length > SERIES_KINDS.length) throw new Error(`A plot takes at most ${SERIES_KINDS.length} series.`)
  const yMarks = roundMarks(Math.max(...points.map(({ y, max = y }) => max)))
  const y = linearScale([0, yMarks.at(-1) ?? 1], [BOX.bottom, BOX.top])
  const xMarks = [...new Set(points.map(({ x }) => x))].toSorted((one, other) => one - other)
  const [least = 1, most = least] = [xMarks[0], xMarks.at(-1)]
  const x = doublingScale([least, Math.max(most, least * 1.01)], [BOX.left, BOX.right])
  const foot = footLines(plot.foot, HEIGHT - 14)
  return picture(
    plot.title,
    WIDTH,
    HEIGHT + (foot.length - 1) * FOOT_STEP,
    label(plot.title, 20, 32, { kind: 'title' }),
    label(plot.yTitle, 20, 56, { kind: 'axis' }),
    ...yMarks.map((mark) =>
      element('line', { x1: BOX.left, x2: BOX.right, y1: y.place(mark), y2: y.place(mark), class: 'grid' }),
    ),
    ...yMarks.map((mark) => label(markText(mark), BOX.left - 8, y.place(mark) + 4.5, { anchor: 'end', kind: 'axis' })),
    ...xMarks.map((mark) => label(markText(mark), x.place(mark), BOX.bottom + 20, { anchor: 'middle', kind: 'axis' })),
    label(plot.xTitle, (BOX.left + BOX.right) / 2, BOX.bottom + 40, { anchor: 'middle', kind: 'axis' }),
    ...plot.series.flatMap((series, index) => seriesLine(series, index, x, y)),
    ...names(plot, x, y),
    ...foot,
  )
}

function seriesLine({ points }: LineSeries, index: number, x: Scale, y: Scale): string[] {
  const kind = SERIES_KINDS[index] ?? 'second'
  const places = points.map((point) => `${x.place(point.x).toFixed(1)},${y.place(point.y).toFixed(1)}`)
  const spreads = points.flatMap((point) => {
    const { min = point.y, max = point.y } = point
    const place = x.place(point.x)
    if (min === max) return []
    return [element('line', { x1: place, x2: place, y1: y.place(min), y2: y.place(max), class: `line-${kind}` })]
  })
  const line = {
    points: places.join(' '),
    fill: 'none',
    'stroke-width': index === 0 ? 2.5 : 1.5,
    class: `line-${kind}`,
  }
  const dots = points.map((point) =>
    element('circle', { cx: x.place(point.x), cy: y.place(point.y), r: 3, class: `fill-${kind}` }),
  )
  return [element('polyline', line), ...spreads, ...dots]
}

/** The names at the ends of lines, moved apart where these end close together. */
function names({ series }: LinePlot, x: Scale, y: Scale): string[] {
  const ends = series
    .flatMap(({ name, points }, index) => {
      const last = points.at(-1)
      const kind = `name-${SERIES_KINDS[index] ?? 'second'}`
      return last === undefined ? [] : [{ name, kind, x: x.place(last.x), y: y.place(last.y) }]
    })
    .toSorted((one, other) => one.y - other.y)
  let free = -Infinity
  const placed = ends.map((end) => {
    free = Math.max(end.y, free)
    const at = free
    free += NAME_STEP
    return { ...end, at }
  })
  // Names that were pushed below the box move up again, and so do those above them.
  let floor = BOX.bottom
  for (const name of placed.toReversed()) {
    name.at = Math.min(name.at, floor)
    floor = name.at - NAME_STEP
  }
  return placed.map(({ name, kind, x: end, at }) => label(name, end + 10, at + 4.5, { kind }))
}

function markText(mark: number): string {
  return Number.isInteger(mark) ? mark.toLocaleString('en-GB') : String(mark)
}
