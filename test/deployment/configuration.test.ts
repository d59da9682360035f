// The table of the configuration has every option, every variable and every setting there is, and none that there is not.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { optionsOfServe, root, variablesOfServe } from './command-options.ts'

const page = readFileSync(join(root, 'docs/service.md'), 'utf8')
const table = page.split('## Configuration')[1]!.split('\n## ')[0]!
const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Command line'))
const cells = (column: number) =>
  rows.flatMap((row) => [...row.split('|')[column]!.matchAll(/`([^`]+)`/g)].map((m) => m[1]!))

/** The fields of an interface, by its text: there is nothing to look at when it runs. */
function fieldsOf(file: string, name: string): string[] {
  const source = readFileSync(join(root, file), 'utf8')
  const body = source.split(`export interface ${name} {`)[1]!.split('\n}')[0]!
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map((match) => match[1]!)
}

describe('the table of the configuration', () => {
  it('has each option of the command, and no other', () => {
    const printed = ['--json', '--quiet']
    expect(cells(1).sort()).toEqual(
      optionsOfServe()
        .filter((name) => !printed.includes(name))
        .sort(),
    )
  })

  it('has each variable that is read, and no other', () => {
    expect(cells(2).sort()).toEqual(variablesOfServe())
  })

  it('has each option of startService, and no other', () => {
    const named = new Set(cells(3).map((name) => name.split(/[.:]/)[0]!))
    expect([...named].sort()).toEqual(fieldsOf('src/service/options.ts', 'ServiceOptions').sort())
  })

  it('says a default for each', () => {
    expect(rows.slice(1).filter((row) => row.split('|')[4]?.trim() === '' || row.split('|').length !== 7)).toEqual([])
  })
})
