// The pages of promises are true: every code has its section and is really produced, every promise its test.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { routes } from '../src/client/contract/routes.ts'
import { adviceOn } from '../src/core/advice.ts'
import type { UploadErrorCode } from '../src/core/errors.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Texts of src without comments and suites, so that a code that is only written about is not taken for one that is produced. */
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('testing'))
  .map((name) => ({ name, text: read(join('src', name)).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '') }))

function codesOfUnion(): string[] {
  const union = /export type UploadErrorCode =((?:\s*\| '\w+')+)/.exec(read('src/core/errors.ts'))?.[1] ?? ''
  return [...union.matchAll(/'(\w+)'/g)].map((match) => match[1]!)
}

describe('docs/command-line.md', () => {
  it('lists every event that the command prints with --json, and no other', () => {
    const [, table = ''] = /^\| `event` \|.*\n.*\n((?:\|.*\n)+)/m.exec(read('docs/command-line.md')) ?? []
    const listed = table.split('\n').flatMap((row) => row.split('|')[1]?.match(/[\w.]+/g) ?? [])
    const printed = sources
      .filter(({ name }) => name.startsWith('cli'))
      .flatMap(({ text }) => [...text.matchAll(/\bevent\('([\w.]+)'|event: isOneOfMany \? '(\w+)'/g)])
      .map((match) => match[1] ?? match[2]!)

    expect(new Set(printed).size).toBeGreaterThan(20)
    expect(listed.toSorted()).toEqual([...new Set(printed)].toSorted())
  })
})

describe('docs/react.md', () => {
  it('takes for unfinished the sessions that the element and the examples offer', () => {
    const places = ['docs/react.md', 'src/element/offers.ts', 'examples/react-vite/src/earlier.tsx']
    const [shown, ...offered] = places.map((path) => /\[[^\]]*\]\.includes\(status\)/.exec(read(path))?.[0])

    expect(shown).toBeDefined()
    expect(offered).toEqual([shown, shown])
  })
})

describe('docs/element.md', () => {
  it('shows the table of texts as it is', () => {
    const [, table] = /^(export interface UploaderTexts .*?^\})$/ms.exec(read('src/element/texts.ts')) ?? []
    const [, shown] = /^```ts\n(export interface UploaderTexts .*?)\n```$/ms.exec(read('docs/element.md')) ?? []

    expect(table).toBeDefined()
    expect(shown).toBe(table)
  })
})

describe('docs/errors.md', () => {
  const page = read('docs/errors.md')
  const sections = page.split(/^## /m).slice(1)

  it('has one section for each code, in the order of the list, and no other', () => {
    expect(codesOfUnion().length).toBeGreaterThan(15)
    expect(sections.map((section) => section.split('\n')[0])).toEqual(codesOfUnion())
  })

  it.each(sections.map((section) => [section.split('\n')[0]!, section]))(
    '%s: says when, what to do, whether it is repeated, and which details there are',
    (_code, section) => {
      const said = [...section.matchAll(/^- \*\*([^*]+):\*\* (.+)$/gm)]
      expect(said.map((match) => match[1])).toEqual(['When', 'What to do', 'Repeated by itself', 'Details'])
      for (const [, , text] of said) expect(text!.length).toBeGreaterThan(3)
    },
  )

  it.each(sections.map((section) => [section.split('\n')[0]! as UploadErrorCode, section] as const))(
    '%s: what to do begins with the words that a program is given',
    (code, section) => {
      const [, toDo = ''] = /^- \*\*What to do:\*\* (.+)$/m.exec(section) ?? []
      const advice = adviceOn(code).replace(/\.$/, '')
      expect(advice.length).toBeGreaterThan(15)
      expect(toDo.replaceAll('`', '').startsWith(advice)).toBe(true)
    },
  )

  it.each(codesOfUnion())('%s is produced by at least one place', (code) => {
    // Where an error is made the code is an argument, a default or the value of a table; where it is read, it is compared.
    const made = new RegExp(`(?:\\(\\s*|[?:]\\s*|\\?\\?\\s*|code: )'${code}'`)
    const compared = new RegExp(`(?:[!=]==\\s*|includes\\(\\s*|has\\(\\s*|case )'${code}'`, 'g')
    const places = sources.filter(({ name, text }) => {
      const rest =
        name === join('core', 'errors.ts') ? text.replace(/export type UploadErrorCode =[^}]*?\n\n/, '') : text
      return made.test(rest.replace(compared, ''))
    })
    // `invalid` and `summarize` in errors.ts make two of them.
    expect(places.map(({ name }) => name)).not.toEqual([])
  })

  it('is the only place that knows its codes: none is written in src that is not in the list', () => {
    const written = new Set(
      sources.flatMap(({ text }) => [...text.matchAll(/'(ERR_UPLOAD_[A-Z_]+)'/g)].map((match) => match[1]!)),
    )
    expect([...written].filter((code) => !codesOfUnion().includes(code) && code !== 'ERR_UPLOAD_')).toEqual([])
  })
})

describe('docs/promises.md', () => {
  const [kept = '', open = ''] = read('docs/promises.md').split('## Not promised yet')
  const lines = kept.split('\n').filter((line) => line.startsWith('- '))

  it('has a test behind every line, and says plainly what is not promised', () => {
    expect(lines.length).toBeGreaterThan(30)
    expect(open.split('\n').filter((line) => line.startsWith('- ')).length).toBeGreaterThan(2)
  })

  it.each(lines)('%s', expectTest)
})

describe('docs/known-failures.md', () => {
  const lines = read('docs/known-failures.md')
    .split('\n')
    .filter((line) => line.startsWith('- '))

  it('has what is known', () => {
    expect(lines.length).toBeGreaterThan(50)
  })

  it.each(lines)('%s', expectTest)
})

/** The line ends in a link to a file of tests and the name of one of them; so does each part of it that has a link. */
function expectTest(line: string): void {
  const links = [...line.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+)\) “([^”]+)”(?=$|[.;] )/g)]
  expect(links.length).toBeGreaterThan(0)
  expect(links.length).toBe(line.split('](').length - 1)
  expect(line.endsWith('”')).toBe(true)
  for (const [, shown = '', target = '', name = ''] of links) {
    expect(shown).toBe(target)
    expect(existsSync(join(root, target))).toBe(true)
    const names = [
      ...read(target).matchAll(
        /(?:\b(?:it|test)(?:\.\w+(?:\([^\n]*\))?)*\(|\](?: as const)?\)\(|\n\s+)\s*(['"`])((?:(?!\1).)*)\1/g,
      ),
    ]
    expect(names.filter((match) => match[2]!.includes(name)).length, name).toBeGreaterThan(0)
  }
}

describe('the pages', () => {
  const pages = [
    'README.md',
    ...readdirSync(join(root, 'docs'), 'utf8').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
  ]
  /** The anchor that a heading gets: lower case, spaces as dashes, no other marks. */
  const anchors = (text: string): string[] =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    )

  it.each(pages)('%s links only to files and headings that are there', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
    const dead = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchors(read(target)).includes(anchor)
    })
    expect(dead.map(([link]) => link)).toEqual([])
  })
})

describe('the README', () => {
  it('has the two commands that do everything in a fresh clone: the demo, and the tests as CI runs them', () => {
    const commands = read('README.md').match(/^npm ci && npm (?:run )?(?:demo|test)$/gm)

    expect(commands).toEqual(['npm ci && npm run demo', 'npm ci && npm test'])
    expect(read('.ci/run').trim().split('\n').at(-1)).toBe(commands?.[1])
  })

  it('has every call of the interface, with the method that makes it', () => {
    const rows = read('README.md').split('\n')
    const missing = Object.entries(routes).filter(([name, { method, path }]) => {
      const call = `${method} ${path.replace(/\{\w+\}/, '{id}')} `
      return !rows.some((row) => row.startsWith(`| ${call}|`) && row.includes(`\`${name}\``))
    })

    expect(Object.keys(routes).length).toBeGreaterThan(10)
    expect(missing).toEqual([])
  })

  it('links to the pages, and they are there', () => {
    for (const page of ['docs/security.md', 'docs/errors.md', 'docs/promises.md']) {
      expect(read('README.md')).toContain(`](${page})`)
      expect(existsSync(join(root, page))).toBe(true)
    }
  })
})
