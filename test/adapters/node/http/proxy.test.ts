import { describe, expect, test } from 'vitest'
import { createProxyChoice, proxyFromEnvironment } from '../../../../src/adapters/node/http/proxy.ts'

describe('proxyFromEnvironment', () => {
  test('reads the usual names, the lower-case one first', () => {
    const options = proxyFromEnvironment({
      HTTPS_PROXY: 'http://upper.example:1',
      https_proxy: 'http://lower.example:2',
      HTTP_PROXY: ' http://plain.example:3 ',
      NO_PROXY: 'localhost',
    })

    expect(options).toEqual({
      https: 'http://lower.example:2',
      http: 'http://plain.example:3',
      no: 'localhost',
    })
  })

  test.each([{}, { HTTPS_PROXY: '', NO_PROXY: '*' }])('finds none in %o', (env) => {
    expect(proxyFromEnvironment(env)).toBe(undefined)
  })
})

describe('createProxyChoice', () => {
  const through = (no: string, url: string) =>
    createProxyChoice({ https: 'https://secure.example:8443', http: 'plain.example:3128', no })(new URL(url))?.host

  test('goes by the scheme of the target', () => {
    expect(through('', 'https://storage.example/')).toBe('secure.example:8443')
    expect(through('', 'http://storage.example/')).toBe('plain.example:3128')
    expect(createProxyChoice({ https: 'https://secure.example' })(new URL('http://storage.example'))).toBe(undefined)
  })

  test.each([
    ['storage.example', 'https://storage.example/', true],
    ['storage.example', 'https://a.storage.example/', false],
    ['.example', 'https://storage.example/', true],
    ['*.example', 'https://storage.example/', true],
    ['.storage.example', 'https://storage.example/', false],
    ['.example', 'https://notexample/', false],
    ['storage.example:443', 'https://storage.example/', true],
    ['storage.example:8443', 'https://storage.example/', false],
    ['storage.example:8443', 'https://storage.example:8443/', true],
    ['STORAGE.example', 'https://Storage.Example/', true],
    ['other.example, storage.example', 'https://storage.example/', true],
    ['other.example storage.example', 'https://storage.example/', true],
    ['[::1]', 'https://[::1]/', true],
    ['[::1]:444', 'https://[::1]/', false],
    ['localhost,127.0.0.1,::1', 'https://[::1]/', true],
    ['2001:DB8:0::7', 'https://[2001:db8::7]:8443/', true],
    ['::1', 'https://[::2]/', false],
    ['fe80::1%eth0,::1', 'https://[::1]/', true],
    ['localhost,10.0.0.0/8', 'https://10.20.30.40:7070/', true],
    ['10.0.0.0/8', 'https://11.0.0.1/', false],
    ['192.168.4.7/24', 'https://192.168.4.200/', true],
    ['0.0.0.0/0', 'https://192.0.2.1/', true],
    ['10.0.0.0/33,10.0.0.0/,10.0.0/8', 'https://10.0.0.1/', false],
    ['10.0.0.0/8', 'https://10.example/', false],
    ['FD00::/8', 'https://[fd12::7]/', true],
    ['[fd00::]/8', 'https://[fe80::7]/', false],
    ['*', 'https://anything.example/', true],
    ['', 'https://anything.example/', false],
  ])('with the exceptions "%s", %s goes directly: %s', (no, url, isDirect) => {
    expect(through(no, url) === undefined).toBe(isDirect)
  })

  test.each(['socks5://proxy.example:1080', 'ftp://proxy.example', 'http://'])('refuses %s as a proxy', (https) => {
    expect(() => createProxyChoice({ https })).toThrow(
      expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }) as Error,
    )
  })
})
