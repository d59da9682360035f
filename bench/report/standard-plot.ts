// The plot that most parts share: throughput, processor and memory of every contestant, one below the other.

import { barPlot, type BarPanel } from './bar-plot.ts'
import { machineLine, type Machine } from './machine.ts'
import { valuesOf, type Column, type Run } from './result.ts'
import { summarize } from './statistics.ts'

export interface StandardPlot {
  readonly title: string
  readonly runs: readonly Run[]
  readonly contestants: readonly { readonly name: string; readonly isOurs: boolean }[]
  /** The measures to draw, and what their bars mean. */
  readonly panels: readonly { readonly measure: string; readonly title: string }[]
  readonly machine: Machine
}

export const SPEED_PANELS = [
  { measure: 'gigabytesPerSecond', title: 'Throughput of the whole process, GB/s (more is better)' },
  { measure: 'cpuSecondsPerGib', title: 'Processor time, seconds per GiB (less is better)' },
  { measure: 'peakMib', title: 'Peak memory, MiB (less is better)' },
]

export const SPEED_COLUMNS: readonly Column[] = [
  { measure: 'gigabytesPerSecond', label: 'GB/s' },
  { measure: 'cpuSecondsPerGib', label: 'CPU s/GiB' },
  { measure: 'peakMib', label: 'peak MiB' },
  { measure: 'transferMs', label: 'ms inside' },
  { measure: 'bodies', label: 'bodies' },
  { measure: 'mostOpen', label: 'connections' },
  { measure: 'serverCpuSecondsPerGib', label: 'server CPU s/GiB' },
]

/** Contestants without a run are left out of the plot. The table and the shortfalls name them. */
export function standardPlot({ title, runs, contestants, panels, machine }: StandardPlot): string {
  const drawn = panels.map(({ measure, title: panelTitle }): BarPanel => {
    const rows = contestants.flatMap(({ name, isOurs }) => {
      const values = valuesOf(runs, name, measure)
      return values.length === 0 ? [] : [{ name, isOurs, summary: summarize(values) }]
    })
    return { title: panelTitle, rows }
  })
  return barPlot({ title, panels: drawn, foot: machineLine(machine) })
}
