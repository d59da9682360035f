// A plot of horizontal bars: one row for each contestant, one panel for each measure, values written at the ends of the bars.

import { valuesOf, type Run } from './result.ts'
import { linearScale } from './scale.ts'
import { readable, summarize, type Summary } from './statistics.ts'
import { element, FOOT_STEP, footLines, label, picture } from './svg.ts'

export interface BarRow {
  readonly name: string
  readonly summary: Summary
  /** Whether to draw it in the strong colour. */
  readonly isOurs: boolean
}

export interface BarPanel {
  /** What the lengths mean, with unit and direction: `Throughput, GB/s (more is better)`. */
  readonly title: string
  readonly rows: readonly BarRow[]
  /** The least value that a bar of full length stands for. Default: the highest run. */
  readonly full?: number
}

const WIDTH = 760
const LEFT = 250
const RIGHT = WIDTH - 130
const ROW = 24
const THICKNESS = 14

/** The rows of a measure. Contestants without a run of it have none: the table and the shortfalls name them. */
export function barRows(
  runs: readonly Run[],
  contestants: readonly Pick<BarRow, 'name' | 'isOurs'>[],
  measure: string,
  setting?: Run['setting'],
): BarRow[] {
  return contestants.flatMap(({ name, isOurs }) => {
    const values = valuesOf(runs, name, measure, setting)
    return values.length === 0 ? [] : [{ name, isOurs, summary: summarize(values) }]
  })
}

/** `foot` says where it was measured. The thin line of a row reaches from its lowest run to its highest. */
export function barPlot(plot: {
  readonly title: string
  readonly panels: readonly BarPanel[]
  readonly foot: string
}): string {
  const parts: string[] = [label(plot.title, 20, 32, { kind: 'title' })]
  let top = 48
  for (const { title, rows, full = Number.MIN_VALUE } of plot.panels) {
    parts.push(label(title, 20, top + 16, { kind: 'panel' }))
    top += 28
    const scale = linearScale([0, Math.max(...rows.map(({ summary }) => summary.max), full)], [LEFT, RIGHT])
    for (const row of rows) {
      parts.push(...barRow(row, top + ROW / 2, scale.place))
      top += ROW
    }
    parts.push(element('line', { x1: LEFT, x2: LEFT, y1: top - rows.length * ROW, y2: top, class: 'grid' }))
    top += 16
  }
  const foot = footLines(plot.foot, top + 10)
  return picture(plot.title, WIDTH, top + 11 + foot.length * FOOT_STEP, ...parts, ...foot)
}

function barRow({ name, summary, isOurs }: BarRow, middle: number, place: (value: number) => number): string[] {
  const kind = isOurs ? 'fill-first' : 'fill-second'
  const end = place(summary.median)
  const bar = { x: LEFT, y: middle - THICKNESS / 2, width: end - LEFT, height: THICKNESS, class: kind }
  const [low, high] = [place(summary.min), place(summary.max)]
  return [
    label(name, LEFT - 10, middle + 4.5, { anchor: 'end' }),
    element('rect', bar),
    ...(summary.count > 1 ? [element('line', { x1: low, x2: high, y1: middle, y2: middle, class: 'whisker' })] : []),
    label(readable(summary.median), Math.max(end, high) + 8, middle + 4.5),
  ]
}
