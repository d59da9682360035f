// Where a request goes is what URL says, whether it was asked or not.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createTargetReader } from '../../../../src/adapters/node/http/target.ts'

const ORIGIN = 'https://storage.example:8443'

describe('the target of an address', () => {
  it('is what URL says, for whatever follows the origin of the address before', () => {
    const pieces = fc.constantFrom(
      ...[
        '/',
        '//',
        '.',
        '..',
        '/../',
        '/./',
        '%2e',
        '%2E%2e',
        '%2f',
        '%',
        '?',
        '#',
        '&',
        '=',
        '+',
        '~',
        "'",
        '"',
        '*',
      ],
      ...['@', ':', '\\', ' ', '\t', '\n', '|', '^', '`', '{', '}', '<', '>', '[', ']', ';', ',', '$', '!', '(', ')'],
      ...['a', 'Z', '0', '-', '_', 'é', '日', '\u0000', '\ud800', 'evil.example', 'X-Amz-Signature=5ecre7', ':80'],
    )
    const rest = fc.array(pieces, { maxLength: 8 }).map((some) => some.join(''))
    fc.assert(
      fc.property(rest, fc.boolean(), (text, isSlashed) => {
        const read = createTargetReader()
        read(`${ORIGIN}/first`)
        const url = `${ORIGIN}${isSlashed ? '/' : ''}${text}`

        expect(outcome(() => read(url))).toEqual(outcome(() => byUrl(url)))
        // What one address was does not change what the next one is.
        expect(read(`${ORIGIN}/next?a=b`)).toEqual({ origin: ORIGIN, path: '/next?a=b' })
      }),
      { numRuns: 2_000 },
    )
  })

  it('is of another origin when the address is', () => {
    const read = createTargetReader()

    expect(
      [`${ORIGIN}/a`, 'https://storage.example/b', 'HTTPS://Storage.Example:443/c', `${ORIGIN}/d`].map(read),
    ).toEqual([
      { origin: ORIGIN, path: '/a' },
      { origin: 'https://storage.example', path: '/b' },
      { origin: 'https://storage.example', path: '/c' },
      { origin: ORIGIN, path: '/d' },
    ])
  })

  it.each(['', 'not a url', '/relative', 'ftp://storage.example/a', 'blob:https://storage.example/a'])(
    'is refused: %j',
    (url) => {
      expect(() => createTargetReader()(url)).toThrow('not an absolute http: or https: URL')
    },
  )
})

function byUrl(url: string): { origin: string; path: string } {
  const { protocol, origin, pathname, search } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error('another protocol')
  return { origin, path: `${pathname}${search}` }
}

function outcome<T>(work: () => T): T | 'refused' {
  try {
    return work()
  } catch {
    return 'refused'
  }
}
