import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkSecure,
  hostOf,
  isLoopback,
  parseUrl,
  readAddress,
  redactAddress,
} from '../../../src/core/address/address.ts'
import { isAddress } from '../../../src/client/contract/captures.ts'
import { redactText } from '../../../src/core/redact.ts'

const SIGNED_AT_MS = 1_795_199_400_000 // 2026-11-20T18:30:00Z
const SIGV4 =
  'https://bucket.s3.us-east-1.amazonaws.com/a/swing%2001.mp4?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
  '&X-Amz-Credential=AKIDEXAMPLE%2F20261120%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20261120T183000Z' +
  '&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=0123456789abcdef0123456789abcdef&partNumber=3'

describe('the deadline of an address', () => {
  it.each([
    ['AWS V4', SIGV4, SIGNED_AT_MS + 3_600_000],
    ['AWS V4, to the second', 'https://h/k?X-Amz-Date=20261120T183007Z&X-Amz-Expires=60', SIGNED_AT_MS + 67_000],
    ['names in lower case', 'https://h/k?x-amz-expires=900&x-amz-date=20261120T183000Z', SIGNED_AT_MS + 900_000],
    ['Google V4', 'https://h/k?X-Goog-Date=20261120T183000Z&X-Goog-Expires=604800', SIGNED_AT_MS + 604_800_000],
    ['AWS V2', 'https://h/k?AWSAccessKeyId=AK&Signature=abc%3D&Expires=1795199400', SIGNED_AT_MS],
    ['the first of two', 'https://h/k?a=b&Expires=1795199400&expires=1', SIGNED_AT_MS],
    ['Azure, in lower case', 'https://h/k?se=2026-11-20T18%3a30%3a00Z', SIGNED_AT_MS],
    ['Azure', 'https://h/k?sv=2024-11-04&se=2026-11-20T18%3A30%3A00Z&sr=b&sp=w&sig=abc%3D', SIGNED_AT_MS],
    ['Azure, to the minute', 'https://h/k?se=2026-11-20T18:30Z&sig=a', SIGNED_AT_MS],
    ['Azure, a fraction', 'https://h/k?se=2026-11-20T18:30:00.0000000Z&sig=a', SIGNED_AT_MS],
    ['Azure, a day', 'https://h/k?se=2026-11-20&sig=a', SIGNED_AT_MS - 18.5 * 3_600_000],
  ])('reads %s', (_, url, deadlineMs) => {
    expect(readAddress(url).deadlineMs).toBe(deadlineMs)
  })

  it.each([
    '',
    'not a url',
    'https://h/k',
    'https://h/k?',
    'https://h/k?X-Amz-Date=20261120T183000Z',
    'https://h/k?X-Amz-Expires=3600',
    'https://h/k?X-Amz-Date=20261320T183000Z&X-Amz-Expires=3600',
    'https://h/k?X-Amz-Date=20261140T183000Z&X-Amz-Expires=3600',
    'https://h/k?X-Amz-Date=20261120T243000Z&X-Amz-Expires=3600',
    'https://h/k?X-Amz-Date=20261120T183000Z&X-Amz-Expires=-1',
    'https://h/k?Expires=soon',
    'https://h/k?expires=900',
    'https://h/k?expires=604800',
    'https://h/k?Expires=1795199400123456',
    'https://h/k?se=%E0%A4%A',
    'https://h/k#?Expires=1',
    'https://h/k?a=b#&Expires=1',
    'https://h/k&Expires=1',
    'https://h/k?NotExpires=1&a=?Expires=1',
  ])('does not know for %j', (url) => {
    expect(readAddress(url).deadlineMs).toBeUndefined()
  })

  it('never throws, whatever the text is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.webQueryParameters(), (text, query) => {
        for (const url of [text, `https://h/?${text}`, `https://h/?se=${text}`, `https://h/?${query}`]) {
          expect(['number', 'undefined']).toContain(typeof readAddress(url).deadlineMs)
          expect(['number', 'undefined']).toContain(typeof readAddress(url).signedAtMs)
          expect(typeof redactAddress(url)).toBe('string')
        }
      }),
    )
  })
})

describe('readAddress', () => {
  it('reads the date of V4 signatures, and no other', () => {
    expect(readAddress(SIGV4).signedAtMs).toBe(SIGNED_AT_MS)
    expect(readAddress('https://h/k?X-Goog-Date=20261120T183000Z').signedAtMs).toBe(SIGNED_AT_MS)
    expect(readAddress('https://h/k?Expires=1795199400').signedAtMs).toBeUndefined()
    expect(readAddress('nonsense').signedAtMs).toBeUndefined()
  })

  it('reads every date as the platform does', () => {
    const dates = fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(dates, (date) => {
        const text = date.toISOString().replaceAll(/[-:]|\.\d+/g, '')
        expect(readAddress(`https://h/k?X-Amz-Date=${text}`).signedAtMs).toBe(Math.floor(date.getTime() / 1000) * 1000)
      }),
    )
  })
})

describe('redactAddress', () => {
  it('keeps scheme, host and path', () => {
    expect(redactAddress(SIGV4)).toBe('https://bucket.s3.us-east-1.amazonaws.com/a/swing%2001.mp4?…')
    expect(redactAddress('https://user:secret@h:8443/k#part')).toBe('https://h:8443/k')
    expect(redactAddress('http://127.0.0.1:9000/b/k')).toBe('http://127.0.0.1:9000/b/k')
    expect(redactAddress('sig=abc')).toBe('(unreadable address)')
  })
})

describe('redactText', () => {
  it.each([
    [`PUT ${SIGV4} failed`, 'PUT https://bucket.s3.us-east-1.amazonaws.com/a/swing%2001.mp4?… failed'],
    ["fetch 'https://u:p@h/it's?token=abcd' (x)", "fetch 'https://h/it's?… (x)"],
    ['https://user:pa@ss@h:1/k refused', 'https://h:1/k refused'],
    ['<Resource>/b/k?sig=abc%3D</Resource>', '<Resource>/b/k?…</Resource>'],
    ['path /k?a=1&b=2 refused', 'path /k?… refused'],
    ['X-Amz-Signature=0123abcd and more', 'X-Amz-Signature=… and more'],
    ['{"x-api-key":"abc def","n":1}', '{"x-api-key":…,"n":1}'],
    ['x-api-key: s3cr3t', 'x-api-key: …'],
    ['sent Bearer abc.def.ghi', 'sent Bearer …'],
    ['Authorization: Basic dXNlcjpwYXNz extra', 'Authorization: …'],
    ['Authentication: Bearer abc', 'Authentication: …'],
    ['used Basic dXNlcjpwYXNz there', 'used Basic … there'],
    ['X-Amz-Signature%3Dabcdef', 'X-Amz-Signature%3D…'],
    ['a\\u0026X-Amz-Credential=AKID/2026', 'a\\u0026X-Amz-Credential=…'],
  ])('hides what is secret in %j', (text, shown) => {
    expect(redactText(text)).toBe(shown)
  })

  it('leaves ordinary messages as they are', () => {
    for (const text of [
      'connect ECONNREFUSED 127.0.0.1:9000',
      'The storage refused part 3 (403 AccessDenied: the address has expired).',
      'Is the file still there? It was 5 MiB & now is 4.',
      'design=new', // "sig" inside a word is no name of a secret
      'read https://example.com/docs/errors for more',
    ]) {
      expect(redactText(text)).toBe(text)
    }
  })

  it('lets no value of a query through, in any text around it', () => {
    fc.assert(
      fc.property(
        signedUrl(),
        fc.constantFrom(' ', '\n', '"', '<', '>', '('),
        surroundings(),
        (signed, edge, around) => {
          const shown = redactText(`${around}${edge}${signed.url}${edge === '(' ? ')' : edge}${around}`)

          for (const secret of signed.secrets) expect(shown).not.toContain(secret)
          for (const secret of signed.secrets) expect(redactAddress(signed.url)).not.toContain(secret)
        },
      ),
    )
  })

  it('lets no credential through, in any of the forms in which one is written', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9+/=_.~!$%^*@#,;:|-]{8,60}$/).map((text) => `Z9${text}`)
    const forms = [
      (text: string) => `x-api-key: ${text}`,
      (text: string) => `X-API-Key=${text}`,
      (text: string) => `{"access_token":"${text}"}`,
      (text: string) => `Authorization: Bearer ${text}`,
      (text: string) => `headers { authorization: 'Bearer ${text}' }`,
      (text: string) => `Bearer ${text}`,
      (text: string) => `sig=${text}`,
      (text: string) => `Signature=${text}`,
      (text: string) => `X-Goog-Signature=${text}`,
      (text: string) => `&X-Amz-Security-Token=${text}`,
      (text: string) => `https://h/path?${text}`,
      (text: string) => `https://user:${text.replaceAll(/[/?#"<>\s]/g, '')}@h/path`,
    ]
    fc.assert(
      fc.property(secret, fc.constantFrom(...forms), surroundings(), (text, form, around) => {
        const shown = redactText(`${around} ${form(text)} ${around}`)

        expect(shown).not.toContain(text.slice(0, 8).replaceAll(/[/?#]/g, ''))
      }),
    )
  })

  it('ends on long texts that are made to be slow', () => {
    for (const piece of ['?', '&', 'a', '://', '://a@', 'sig', '"', "token='", 'bearer ', 'signature=\\', 'cookie']) {
      const text = piece.repeat(200_000)
      // Linear work takes some ten milliseconds here, quadratic work more than the minute after which the test is given up.
      expect(redactText(text).length).toBeGreaterThan(0)
    }
  })
})

describe('checkSecure', () => {
  it('lets https through, and http to this machine', () => {
    for (const url of [
      'https://example.com/x',
      'http://localhost:8787/',
      'http://store.localhost/',
      'http://127.0.0.1:9000/',
      'http://127.1/',
      'http://[::1]:9000/',
    ]) {
      expect(() => checkSecure(url, false)).not.toThrow()
    }
    expect(() => checkSecure('http://10.0.0.7/', true)).not.toThrow()
  })

  it('refuses http to anywhere else without showing the address', () => {
    for (const host of ['example.com', 'localhost.example.com', '127.0.0.1.example.com', '10.0.0.7', 'notlocalhost']) {
      let caught: unknown
      try {
        checkSecure(`http://${host}/k?sig=SECRET`, false)
      } catch (error) {
        caught = error
      }
      expect(caught).toMatchObject({
        code: 'ERR_UPLOAD_INSECURE_URL',
        message:
          `Plain HTTP to ${host} shows the address and the bytes to all on the way. ` +
          'Use https, or allow plain HTTP if this network is trusted.',
      })
    }
  })

  it('refuses what is no http or https URL, and what a name, a password or a control character is in', () => {
    const odd = ['https://user@h/x', 'https://:password@h/x', 'https://user:password@h/x', 'https://h/\tx']
    for (const url of ['ftp://h/x', 'file:///etc/passwd', '/relative', '', 'data:,x', ...odd]) {
      expect(() => checkSecure(url, true)).toThrow(expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }))
    }
  })
})

describe('a text of which only the beginning is parsed', () => {
  const pieces = [
    'https:',
    'HTTP:',
    '/',
    '\\',
    '?',
    '#',
    '@',
    ':',
    ' ',
    '\t',
    '\n',
    'u',
    'localhost',
    '.',
    '443',
    '[::1]',
    '%',
  ]
  const piece = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pieces) }, fc.string())
  const rest = fc.oneof(
    fc.webUrl(),
    fc.array(piece).map((all) => all.join('')),
  )
  const text = fc.tuple(fc.constantFrom('', 'https://', 'http://', 'ftp://'), rest).map((both) => both.join(''))
  const whole = (url: string) => {
    const parsed = parseUrl(url)
    return parsed &&
      /^https?:$/.test(parsed.protocol) &&
      !/\p{Cc}/u.test(url) &&
      parsed.username + parsed.password === ''
      ? parsed
      : undefined
  }

  it('is judged as if all of it were', () => {
    fc.assert(
      fc.property(text, (url) => {
        const parsed = whole(url)
        const isSecure = parsed && (parsed.protocol === 'https:' || isLoopback(parsed.hostname))
        const code = parsed ? 'ERR_UPLOAD_INSECURE_URL' : 'ERR_UPLOAD_INVALID_ARGUMENT'

        if (isSecure) expect(() => checkSecure(url, false)).not.toThrow()
        else expect(() => checkSecure(url, false)).toThrow(expect.objectContaining({ code }))
        expect(isAddress(url)).toBe(parsed !== undefined && /^https?:\/\/[^/\\]/i.test(url))
      }),
      { numRuns: 2_000 },
    )
  })

  it('takes the thousandth address like the first: what is optimized in Node 20 and 22 refuses a host outside ASCII', () => {
    const judged = new Set(Array.from({ length: 20_000 }, () => isAddress('https://fußball.example/k?s=1')))

    expect([...judged]).toEqual([true])
  })
})

describe('hostOf', () => {
  it('always writes the port', () => {
    expect(hostOf('https://Bucket.example.com/k?x')).toBe('bucket.example.com:443')
    expect(hostOf('http://localhost/k')).toBe('localhost:80')
    expect(hostOf('http://[::1]:9000/k')).toBe('[::1]:9000')
    expect(() => hostOf('nonsense')).toThrow('is no http or https URL')
  })
})

/** Words that could not be mistaken for the secrets, which all begin with Z9. */
function surroundings(): fc.Arbitrary<string> {
  return fc.constantFrom('', 'PUT failed for', 'Error: ', 'a=b', '{"message":"x"}', '?', '&', 'https://h/p', 'token')
}

function signedUrl(): fc.Arbitrary<{ url: string; secrets: string[] }> {
  const value = fc
    .string({ unit: 'grapheme', minLength: 4, maxLength: 40 })
    .map((text) => encodeURIComponent(`Z9${text}Z9`))
  const name = fc.constantFrom(
    'X-Amz-Signature',
    'X-Amz-Credential',
    'sig',
    'Signature',
    'Policy',
    'partNumber',
    'q',
    'é',
  )
  return fc
    .record({
      host: fc.domain(),
      path: fc.webPath(),
      pairs: fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 6 }),
      separator: fc.constantFrom('&', ';', '&amp;'),
      fragment: fc.constantFrom('', '#f'),
    })
    .map(({ host, path, pairs, separator, fragment }) => ({
      url: `https://${host}${path}?${pairs.map(([key, text]) => `${key}=${text}`).join(separator)}${fragment}`,
      secrets: pairs.map(([, text]) => text),
    }))
}
