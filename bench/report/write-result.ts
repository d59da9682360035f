// Stores a result: JSON with every single run, the plots beside it, and one page of all results in the folder.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { barLine } from './bars.ts'
import { machineLine, type Machine } from './machine.ts'
import type { PartResult, Plot } from './result.ts'
import { renderTable, resultRows } from './table.ts'

/** The content of a result file. */
export type KeptResult = Omit<PartResult, 'plots'> & { readonly plots: readonly string[]; readonly machine: Machine }

/** Writes `<part>.json` and its plots into the folder, and `summary.md`, a page of all results that the folder holds. */
export async function writeResult(folder: string, result: PartResult, machine: Machine): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const plot of result.plots) await writeFile(join(folder, plotFile(result.part, plot)), plot.svg)
  const plots = result.plots.map((plot) => plotFile(result.part, plot))
  const kept: KeptResult = { ...result, plots, machine }
  await writeFile(join(folder, `${result.part}.json`), `${JSON.stringify(kept, undefined, 1)}\n`)
  await writeFile(join(folder, 'summary.md'), summaryPage(await readResults(folder)))
}

/** All results of a folder, sorted by the name of their part. */
export async function readResults(folder: string): Promise<KeptResult[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted()
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as KeptResult))
}

/** A result as a terminal shows it: the table, the bars, what is missing. */
export function resultText(result: PartResult): string {
  const { header, rows } = resultRows(result)
  return [
    `${result.title}\n`,
    renderTable(header, rows),
    ...(result.bars.length > 0 ? ['', ...result.bars.map(barLine)] : []),
    ...result.shortfalls.map((line) => `\n!! ${line}`),
    '',
  ].join('\n')
}

function plotFile(part: string, plot: Plot): string {
  return `${[part, plot.name].filter((word) => word !== '').join('-')}.svg`
}

function summaryPage(results: readonly KeptResult[]): string {
  const sections = results.map((result) => {
    const { header, rows } = resultRows(result)
    const cells = (row: readonly string[]): string =>
      `| ${row.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
    return [
      `## ${result.title}`,
      result.about.join(' '),
      [cells(header), cells(header.map(() => '---')), ...rows.map(cells)].join('\n'),
      ...(result.bars.length === 0 ? [] : [['```', ...result.bars.map(barLine), '```'].join('\n')]),
      ...result.shortfalls.map((line) => `**Missing:** ${line}`),
      ...result.plots.map((file) => `![${result.title}](${file})`),
      `Measured on ${machineLine(result.machine)}; ` +
        `\`npm run bench -- ${result.part}\`; every run: [${result.part}.json](${result.part}.json).`,
    ].join('\n\n')
  })
  return ['# What was measured', 'Medians, with the lowest and the highest run in brackets.', ...sections, ''].join(
    '\n\n',
  )
}
