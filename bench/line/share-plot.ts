// The plot of the part `line`: how much of each line every contestant filled, one panel for each line.

import { barPlot, barRows, type BarPanel } from '../report/bar-plot.ts'
import { machineLine, type Machine } from '../report/machine.ts'
import type { Run } from '../report/result.ts'

/** `isOurs` says whose bars have the strong colour. Lines and contestants appear in the order of their first runs. */
export function sharePlot(plot: {
  readonly title: string
  readonly runs: readonly Run[]
  readonly machine: Machine
  readonly isOurs: (contestant: string) => boolean
}): string {
  const { runs, isOurs } = plot
  const lines = [...new Set(runs.flatMap(({ setting }) => setting?.['line'] ?? []))]
  const panels = lines.map((line): BarPanel => {
    const names = new Set(runs.filter(({ setting }) => setting?.['line'] === line).map(({ contestant }) => contestant))
    const contestants = [...names].map((name) => ({ name, isOurs: isOurs(name) }))
    const rows = barRows(runs, contestants, 'linePercent', { line })
    return { title: `${line}: share of the line, % (more is better)`, rows, full: 100 }
  })
  return barPlot({ title: plot.title, panels, foot: machineLine(plot.machine) })
}
