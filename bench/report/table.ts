// Plain tables for a terminal: medians with their spread, one row for each contestant and setting.

import type { PartResult, Run } from './result.ts'
import { readable, summarize } from './statistics.ts'

/** Pads every column to its widest cell. The first column is aligned left, the others right. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => (column === 0 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width)))
      .join('  ')
      .trimEnd()
  return [line(header), ...rows.map(line)].join('\n')
}

/** The runs of a part as rows: contestant and setting, number of runs, and `median (min–max)` of every column. */
export function resultRows(result: Pick<PartResult, 'runs' | 'columns'>): { header: string[]; rows: string[][] } {
  const groups = new Map<string, Run[]>()
  for (const run of result.runs) groups.set(groupName(run), [...(groups.get(groupName(run)) ?? []), run])
  const rows = [...groups].map(([name, runs]) => [
    name,
    String(runs.length),
    ...result.columns.map(({ measure }) => cell(runs.flatMap((run) => run.measures[measure] ?? []))),
  ])
  return { header: ['', 'runs', ...result.columns.map(({ label }) => label)], rows }
}

function groupName(run: Run): string {
  const settings = Object.entries(run.setting ?? {}).map(([name, value]) => `${name} ${value}`)
  return [run.contestant, ...settings].join(', ')
}

function cell(values: readonly number[]): string {
  if (values.length === 0) return '–'
  const { median, min, max, count } = summarize(values)
  return count === 1 || min === max ? readable(median) : `${readable(median)} (${readable(min)}–${readable(max)})`
}
