// The plot that most parts share: throughput, processor and memory of every contestant, one below the other.

import { barPlot, barRows } from './bar-plot.ts'
import { machineLine, type Machine } from './machine.ts'
import type { Column, Run } from './result.ts'

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

export function standardPlot({ title, runs, contestants, panels, machine }: StandardPlot): string {
  const drawn = panels.map(({ measure, title: panelTitle }) => ({
    title: panelTitle,
    rows: barRows(runs, contestants, measure),
  }))
  return barPlot({ title, panels: drawn, foot: machineLine(machine) })
}
