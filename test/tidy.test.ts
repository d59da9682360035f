// The house rules that a reader can see: who may import whom, how long a file may be, what is never written.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name: name.split(sep).join('/'), text: readFileSync(join(root, folder, name), 'utf8') }))
const sources = filesIn('src')
/** Test files that the runner runs before each of the others, with their hooks. */
const SETUP_FILES = ['conformance/cancel-opened.ts']

/** Room → rooms of this project that it may import, and packages that it may import. */
const mayUse: Record<string, { readonly rooms: readonly string[]; readonly packages: readonly string[] }> = {
  core: { rooms: ['core'], packages: ['p-queue'] },
  machines: { rooms: ['machines', 'core'], packages: ['xstate'] },
  client: { rooms: ['client', 'core'], packages: ['valibot'] },
  protocols: { rooms: ['protocols', 'client', 'core'], packages: [] },
  flows: { rooms: ['flows', 'machines', 'protocols', 'client', 'core'], packages: ['xstate', 'eventemitter3'] },
  'adapters/web': { rooms: ['adapters/web', 'core'], packages: [] },
  'adapters/browser': { rooms: ['adapters/browser', 'adapters/web', 'core'], packages: ['idb'] },
  element: { rooms: ['element', 'browser', 'flows', 'client', 'core'], packages: [] },
  'adapters/node': {
    rooms: ['adapters/node', 'adapters/web', 'core'],
    packages: ['node:', 'undici', 'undici/lib/dispatcher/client.js'],
  },
  testing: {
    rooms: ['testing', 'flows', 'adapters/node', 'adapters/web', 'core'],
    packages: ['node:', 'vitest', 'fast-check'],
  },
  service: {
    rooms: ['service', 'client/contract'],
    packages: [
      'node:',
      'fastify',
      '@fastify/helmet',
      'jose',
      'prom-client',
      'kysely',
      '@electric-sql/pglite',
      '@electric-sql/pglite/nodefs',
      'nanotar',
      'pg',
      '@aws-sdk/client-s3',
      'valibot',
    ],
  },
}

function roomOf(name: string): string | undefined {
  return Object.keys(mayUse).find((room) => name.startsWith(`${room}/`))
}

/** Every import and export-from of a file, types included. */
function importsOf(text: string): string[] {
  return [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'"\n]*(?:\n[^'"\n]*)*?from '([^']+)'/g),
    ...text.matchAll(/\bimport\('([^']+)'\)/g),
  ].map((match) => match[1] ?? '')
}

describe('the walls', () => {
  it.each(sources.filter(({ name }) => roomOf(name) !== undefined))(
    '$name imports only what its room may',
    ({ name, text }) => {
      const { rooms, packages } = mayUse[roomOf(name) ?? ''] ?? { rooms: [], packages: [] }

      const wrong = importsOf(text).filter((target) => {
        if (!target.startsWith('.'))
          return !packages.some(
            (allowed) => target === allowed || (allowed.endsWith(':') && target.startsWith(allowed)),
          )
        const path = relative(join(root, 'src'), resolve(root, 'src', dirname(name), target))
          .split(sep)
          .join('/')
        return !rooms.some((room) => path.startsWith(`${room}/`) || path === `${room}.ts`)
      })

      expect(wrong).toEqual([])
    },
  )

  it('lets only the schemas of the client know their library, so that no page loads it', () => {
    const knowing = sources.filter(
      ({ name, text }) => name.startsWith('client/') && importsOf(text).includes('valibot'),
    )
    const others = knowing
      .map((file) => file.name)
      .filter((name) => !/^client\/contract(?:\/[a-z]+-schemas)?\.ts$/.test(name))
    const users = sources.filter(
      ({ name, text }) =>
        !/^(?:service|client\/contract)/.test(name) &&
        /\n(?:import|export)(?! type)[^'"]*from '[^']*(?:\/contract|-schemas)\.ts'/.test(text),
    )
    expect(others).toEqual([])
    expect(users.map((file) => file.name)).toEqual([])
  })

  it('lets one face alone know the suites, and no other load a test runner', () => {
    const knowing = sources.filter(
      ({ name, text }) =>
        !name.startsWith('testing/') && importsOf(text).some((target) => target.includes('/testing/')),
    )
    expect(knowing.map((file) => file.name)).toEqual(['testing.ts'])
  })

  it('lets one file of the core know the queue', () => {
    const knowing = sources.filter(({ name, text }) => name.startsWith('core/') && importsOf(text).includes('p-queue'))
    expect(knowing.map((file) => file.name)).toEqual(['core/engine.ts'])
  })
})

/** The files that a file of `src` imports, types included, from `src` on. */
function roomsBehind(name: string, text: string): string[] {
  return importsOf(text)
    .filter((target) => target.startsWith('.'))
    .map((target) => join(dirname(name), target).split(sep).join('/'))
}

/** The first way from a file back to itself; undefined where every way ends. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const isDone = new Set<string>()
  const walk = (name: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name]
    if (isDone.has(name)) return undefined
    for (const next of imports.get(name) ?? []) {
      const circle = walk(next, [...way, name])
      if (circle !== undefined) return circle
    }
    isDone.add(name)
    return undefined
  }
  for (const name of imports.keys()) {
    const circle = walk(name, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

describe('imports', () => {
  it('never lead back to where they began, so that each file can be read after those below it', () => {
    const imports = new Map(sources.map(({ name, text }) => [name, roomsBehind(name, text)]))

    expect([...imports.values()].flat().filter((name) => name.endsWith('.ts')).length).toBeGreaterThan(1_000)
    expect(circleIn(imports)).toBeUndefined()
    expect(
      circleIn(
        new Map([
          ['a', ['b']],
          ['b', ['c', 'd']],
          ['c', []],
          ['d', ['b']],
        ]),
      ),
    ).toEqual(['b', 'd', 'b'])
  })
})

describe('every file', () => {
  it.each(sources)('$name says what it is, in at most 250 lines, and leaves nothing for later', ({ name, text }) => {
    const body = text.replace(/^#![^\n]*\n/, '')

    expect(body.startsWith('// ')).toBe(true)
    expect(text.split('\n').length).toBeLessThanOrEqual(250)
    expect(text).not.toMatch(/\b(?:TODO|FIXME|XXX|HACK)\b/)
    expect(text).not.toMatch(/\bexport default\b/)
    if (!name.startsWith('cli/')) expect(text).not.toMatch(/\bconsole\./)
  })

  it('of the tests has at most 500 lines', () => {
    const tests = filesIn('test')

    expect(tests.length).toBeGreaterThan(400)
    expect(tests.filter(({ text }) => text.split('\n').length > 500).map(({ name }) => name)).toEqual([])
  })

  // A worker loads such a module once for many test files: hooks at its top would be those of the first of them only.
  it('that tests share sets its hooks in a function, which each of them calls', () => {
    const shared = filesIn('test').filter(({ name }) => !name.endsWith('.test.ts'))
    const hooked = shared.filter(({ text }) => /^(?:before|after)(?:All|Each)\(/m.test(text)).map(({ name }) => name)

    expect(hooked).toEqual(SETUP_FILES)
  })

  it('is named for what it is about', () => {
    const vague = sources.filter(({ name }) => /(?:^|\/)(?:utils?|helpers?|types|common|misc)(?:\.ts|\/)/.test(name))
    expect(vague.map((file) => file.name)).toEqual([])
  })
})
