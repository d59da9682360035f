// The benchmark's arithmetic and its drawings: a wrong median, ratio or bar would be a wrong claim in public.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { barPlot } from '../../bench/report/bar-plot.ts'
import { barLine, judge, ratiosByRound } from '../../bench/report/bars.ts'
import { linePlot } from '../../bench/report/line-plot.ts'
import type { Machine } from '../../bench/report/machine.ts'
import { valuesOf, type PartResult, type Run } from '../../bench/report/result.ts'
import { doublingScale, linearScale, roundMarks } from '../../bench/report/scale.ts'
import { median, readable, summarize } from '../../bench/report/statistics.ts'
import { escapeXml } from '../../bench/report/svg.ts'
import { renderTable, resultRows } from '../../bench/report/table.ts'
import { readResults, writeResult } from '../../bench/report/write-result.ts'

const run = (contestant: string, round: number, measures: Record<string, number>): Run => ({
  contestant,
  round,
  measures,
})

describe('statistics', () => {
  it('takes the middle of an odd number of runs, and between the two middle ones of an even number', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([9, 1, 5, 6])).toBe(5.5)
    expect(summarize([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3, count: 3 })
  })

  it('has as many values below the median as above it, in whatever order they came', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const middle = median(values)
        expect(values.filter((value) => value < middle).length).toBeLessThanOrEqual(values.length / 2)
        expect(values.filter((value) => value > middle).length).toBeLessThanOrEqual(values.length / 2)
        expect(median(values.toReversed())).toBe(middle)
      }),
    )
  })

  it('makes no number out of nothing', () => {
    expect(() => median([])).toThrow()
    expect(() => summarize([])).toThrow()
    expect(() => summarize([1, Number.NaN])).toThrow()
  })

  it('writes three digits that count, and whole numbers as they are', () => {
    expect([4, 0.456, 2.345, 23.45, 234.5, 12_345, Number.NaN].map(readable)).toEqual([
      '4',
      '0.46',
      '2.35',
      '23.4',
      '235',
      '12,345',
      '–',
    ])
  })
})

describe('bars', () => {
  const runs = [
    run('ours', 1, { rate: 30 }),
    run('theirs', 1, { rate: 10 }),
    // The machine was busy in the second round: both are slow, and the ratio stays.
    run('theirs', 2, { rate: 1 }),
    run('ours', 2, { rate: 3.2 }),
    run('ours', 3, { rate: 28 }),
    run('theirs', 3, { rate: 10 }),
    // A round in which one did not take part compares nothing.
    run('ours', 4, { rate: 1_000 }),
  ]

  it('divides inside a round, never across rounds', () => {
    expect(ratiosByRound(runs, 'rate', 'ours', 'theirs')).toEqual([3, 3.2, 2.8])
  })

  it('keeps settings apart', () => {
    const swept = [4, 16].flatMap((parts) => [
      { ...run('ours', 1, { rate: parts }), setting: { parts } },
      { ...run('theirs', 1, { rate: 2 }), setting: { parts } },
    ])
    expect(ratiosByRound(swept, 'rate', 'ours', 'theirs', { parts: 16 })).toEqual([8])
    expect(valuesOf(swept, 'ours', 'rate', { parts: 4 })).toEqual([4])
  })

  it('is met at the limit, and missed beyond it, by the median', () => {
    const demand = { name: 'throughput', rule: 'atLeast', limit: 3 } as const
    expect(judge(demand, [2.8, 3, 3.2])).toMatchObject({ status: 'met', value: 3, spread: { min: 2.8, max: 3.2 } })
    expect(judge(demand, [2.8, 2.99, 3.2])).toMatchObject({ status: 'missed', value: 2.99 })
    expect(judge({ ...demand, rule: 'atMost' }, [3, 1, 9])).toMatchObject({ status: 'met', value: 3 })
    expect(judge({ ...demand, rule: 'atMost' }, [3.1, 1, 9])).toMatchObject({ status: 'missed' })
  })

  it('lets no run break a limit that holds for each', () => {
    const demand = { name: 'peak memory', rule: 'atMost', limit: 180, unit: 'MiB', of: 'worst' } as const
    expect(judge(demand, [90, 100, 181])).toMatchObject({ status: 'missed', value: 181 })
    expect(judge(demand, [90, 100, 180])).toMatchObject({ status: 'met', value: 180 })
    expect(judge({ ...demand, rule: 'atLeast' }, [179, 200])).toMatchObject({ status: 'missed', value: 179 })
  })

  it('is not met by what was not measured', () => {
    const demand = { name: 'throughput', rule: 'atMost', limit: 3 } as const
    expect(judge(demand, [])).toMatchObject({ status: 'not measured' })
    expect(judge(demand, [1, Number.NaN])).toMatchObject({ status: 'not measured' })
    expect(barLine(judge(demand, []))).toContain('NOT MEASURED')
  })

  it('says MISSED aloud, with the number and the limit', () => {
    const line = barLine(judge({ name: 'throughput', rule: 'atLeast', limit: 2.5 }, [2.1, 2.2, 2.3]))
    expect(line).toMatch(/^MISSED +2\.20 × \(2\.10–2\.30\) +at least 2\.50 × +throughput$/)
  })
})

describe('tables', () => {
  it('pads columns and puts a median with its spread in a cell', () => {
    const { header, rows } = resultRows(result([run('ours', 1, { rate: 2 }), run('ours', 2, { rate: 4 })]))
    expect(renderTable(header, rows)).toBe('      runs     GB/s\nours     2  3 (2–4)')
  })
})

describe('scales', () => {
  it('puts ends on ends and the middle in the middle', () => {
    const linear = linearScale([0, 10], [100, 200])
    expect([0, 5, 10].map(linear.place)).toEqual([100, 150, 200])
    const doubling = doublingScale([1, 64], [0, 60])
    expect([1, 2, 8, 64].map(doubling.place)).toEqual([0, 10, 30, 60])
  })

  it('refuses a domain without extent', () => {
    expect(() => linearScale([3, 3], [0, 1])).toThrow()
    expect(() => doublingScale([0, 3], [0, 1])).toThrow()
  })

  it('marks an axis with round numbers that reach beyond what is drawn', () => {
    expect(roundMarks(3.4)).toEqual([0, 1, 2, 3, 4])
    expect(roundMarks(0.3)).toEqual([0, 0.1, 0.2, 0.3])
    expect(roundMarks(0)).toEqual([0, 1])
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), (most) => {
        const marks = roundMarks(most)
        expect(marks.at(-1)!).toBeGreaterThanOrEqual(most * 0.998)
        expect(marks.length).toBeLessThanOrEqual(7)
      }),
    )
  })
})

describe('plots', () => {
  const hostile = '<script>&"\u0000'

  it('makes text safe', () => {
    expect(escapeXml(hostile)).toBe('&lt;script&gt;&amp;&quot;')
  })

  it('draws a bar as long as its number says, with the number beside it', () => {
    const rows = [
      { name: 'ours', summary: summarize([4]), isOurs: true },
      { name: hostile, summary: summarize([1, 2, 3]), isOurs: false },
    ]
    const svg = barPlot({ title: hostile, panels: [{ title: 'Throughput, GB/s', rows }], foot: 'here' })

    const widths = [...svg.matchAll(/<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"/g)].map((match) => Number(match[1]))
    expect(widths[1]! / widths[0]!).toBeCloseTo(0.5, 2)
    expect(svg).toContain('>4<')
    expect(svg).not.toContain('<script>')
    expect(svg).toContain('prefers-color-scheme:dark')
  })

  it('leaves room where a bar of full length means more than any run reached', () => {
    const rows = [{ name: 'ours', summary: summarize([25]), isOurs: true }]
    const widthOf = (svg: string) => Number(/<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"/.exec(svg)![1])
    const [part, all] = [{ full: 100 }, {}].map((scale) =>
      widthOf(barPlot({ title: 'a', panels: [{ title: 'Share, %', rows, ...scale }], foot: 'here' })),
    )

    expect(part! / all!).toBeCloseTo(0.25, 2)
  })

  it('breaks a foot that is longer than the plot is wide, and grows by it', () => {
    const words = [
      '2 × A Processor With A Long Name',
      'Linux 6.18.44-fc-v669',
      'Node 20.20.2',
      'commit e4ee4e3916',
      'busy',
    ]
    const footOf = (foot: string) => {
      const plots = [
        barPlot({ title: 'a', panels: [], foot }),
        linePlot({
          ...{ title: 'a', xTitle: '', yTitle: '' },
          series: [{ name: 'a', points: [{ x: 1, y: 1 }] }],
          foot,
        }),
      ]
      return plots.map((svg) => ({
        height: Number(/ height="([\d.]+)"/.exec(svg)![1]),
        lines: [...svg.matchAll(/ y="([\d.]+)"[^>]*class="small">([^<]+)/g)].map(([, y, text]) => [Number(y), text]),
      }))
    }
    const [short, long] = [footOf('here'), footOf([...words, ...words].join(', '))]

    for (const [index, { height, lines }] of long.entries()) {
      expect(lines.map(([, text]) => text).join(' ')).toBe([...words, ...words].join(', '))
      for (const [y, text] of lines) {
        expect(text!.toString().length).toBeLessThanOrEqual(120)
        expect(y).toBeLessThan(height)
      }
      expect(lines.length).toBe(2)
      expect(height - short[index]!.height).toBe(Number(lines[1]![0]) - Number(lines[0]![0]))
    }
  })

  it('draws lines upwards for more, and keeps the names of lines apart', () => {
    const svg = linePlot({
      ...{ title: 'Parts', xTitle: 'MiB', yTitle: 'GB/s', foot: 'here' },
      series: [
        { name: 'ours', points: [5, 16, 64].map((x) => ({ x, y: x / 16, min: x / 17, max: x / 15 })) },
        { name: 'floor', points: [5, 16, 64].map((x) => ({ x, y: x / 16 })) },
        { name: hostile, points: [{ x: 5, y: 0 }] },
      ],
    })

    const [ours = ''] = [...svg.matchAll(/<polyline points="([^"]+)"/g)].map((match) => match[1])
    const heights = ours.split(' ').map((place) => Number(place.split(',')[1]))
    expect(heights).toEqual(heights.toSorted((one, other) => other - one))
    const names = [...svg.matchAll(/y="([\d.]+)"[^>]*class="name-/g)].map((match) => Number(match[1]))
    expect(Math.abs(names[1]! - names[0]!)).toBeGreaterThanOrEqual(15)
    expect(svg).not.toContain('<script>')
  })

  it('draws nothing from nothing', () => {
    expect(() => linePlot({ title: '', xTitle: '', yTitle: '', series: [], foot: '' })).toThrow()
  })
})

describe('kept results', () => {
  it('are each drawn as well, with the drawing beside them', async () => {
    const folder = join(import.meta.dirname, '../../bench/results')
    const drawn = new Set((await readdir(folder)).filter((name) => name.endsWith('.svg')))
    for (const { part, plots } of await readResults(folder)) {
      expect(plots, part).not.toEqual([])
      for (const plot of plots) expect(drawn, part).toContain(plot)
    }
  })

  it('hold every run and the machine, and make one page of all parts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-results-'))
    try {
      const machine = { cpu: 'a chip', node: 'v20', commit: 'abc', measuredAt: '2026-11-20T00:00:00Z' } as Machine
      const bars = [judge({ name: 'throughput', rule: 'atLeast', limit: 9 }, [2])]
      await writeResult(folder, { ...result([run('ours', 1, { rate: 2 })]), bars }, machine)
      await writeResult(folder, { ...result([run('ours', 1, { rate: 3 })]), part: 'tls' }, machine)

      expect((await readdir(folder)).toSorted()).toEqual([
        'summary.md',
        'tls-all.svg',
        'tls.json',
        'upload-all.svg',
        'upload.json',
      ])
      const [tls, upload] = await readResults(folder)
      expect(tls!.runs).toEqual([run('ours', 1, { rate: 3 })])
      expect(upload).toMatchObject({ machine, bars: [{ status: 'missed' }] })
      const page = await readFile(join(folder, 'summary.md'), 'utf8')
      expect(page).toContain('MISSED')
      expect(page).toContain('](tls-all.svg)')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

function result(runs: readonly Run[]): PartResult {
  return {
    ...{ part: 'upload', title: 'One file', about: ['Sent.'], bars: [], shortfalls: [] },
    columns: [{ measure: 'rate', label: 'GB/s' }],
    runs,
    plots: [{ name: 'all', svg: '<svg/>' }],
  }
}
