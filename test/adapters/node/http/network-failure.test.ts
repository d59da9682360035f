// What a person reads of a connection that TLS has ended, or that no network would make: what is wrong, and what to do.

import { expect, it } from 'vitest'

import { explaining, explainFailure } from '../../../../src/adapters/node/http/explain-failure.ts'
import { networkFailure } from '../../../../src/adapters/node/http/network-failure.ts'
import { ProxyRefusedError, ProxyUnreachedError } from '../../../../src/adapters/node/http/proxy.ts'

const failureOf = (code: string) =>
  networkFailure(Object.assign(new Error('of OpenSSL, with names in it'), { code }), {
    target: new URL('https://storage.example/o?X-Amz-Signature=secret'),
    ...{ phase: 'connect', ending: 'neverWhole' },
  })

it.each([
  ['CERT_HAS_EXPIRED', /was not accepted \(CERT_HAS_EXPIRED\): it has expired, .*clock of this machine/],
  ['CERT_NOT_YET_VALID', /was not accepted \(CERT_NOT_YET_VALID\): it is not valid yet, .*clock of this machine/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /it is for another name: .*misspelt.*sign-in page/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /no authority that this machine trusts .*CA file.*sign-in page/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /no authority that this machine trusts .*CA file.*sign-in page/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /^storage\.example:443 does not speak TLS \(ERR_SSL_WRONG_VERSION_NUMBER\): .*port/],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /refused the TLS connection \(ERR_.*\): .*certificate of this machine/],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', /refused the TLS connection .*certificate of this machine.* run that host/],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', /refused the TLS connection .*another version of TLS.* run that host/],
  [
    'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    /refused the TLS connection .*does not speak HTTP\/1\.1.* run that host/,
  ],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', /^storage\.example:443 does not speak TLS /],
  ['EMFILE', /^No connection to storage\.example:443 could be opened \(EMFILE\): .*limit of open files \(ulimit -n\)/],
  ['ENFILE', /^No connection to .* \(ENFILE\): this machine has too many files open\. Close other programs$/],
])('says of %s what is wrong and what to do', (code, words) => {
  const { message } = failureOf(code)

  expect(message).toMatch(words)
  expect(message).toContain('storage.example:443')
  expect(message).not.toMatch(/OpenSSL|secret/)
})

it.each(['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])(
  'is explained in a few words, though OpenSSL’s error is no cause of it: %s',
  (code) => {
    expect(explainFailure(failureOf(code))).toEqual({ reason: 'its certificate was not accepted', isOffline: false })
  },
)

it('says of a host that refuses our TLS that it is the host which refuses', () => {
  const { reason } = explainFailure(failureOf('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'))

  expect(reason).toBe('it refuses this TLS connection')
})

it.each([
  [407, ': check the name and password in its address', 'it wants a name and a password that it knows'],
  [403, ': those who run it must allow that host', 'it opens no connection'],
  [502, '', 'it opens no connection'],
])('says what to do where a proxy answers %d', (status, advice, inShort) => {
  const proxy = new URL('http://ana:word@proxy.example:3128')

  const failure = failureWith(new ProxyRefusedError(proxy, status))

  expect(failure.message).toBe(
    `The proxy proxy.example:3128 answered ${String(status)} instead of opening a connection to storage.example:443${advice}`,
  )
  expect(explainFailure(failure)).toEqual({
    reason: `its proxy proxy.example:3128: ${inShort}`,
    isOffline: false,
  })
})

it.each(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'EADDRNOTAVAIL'])(
  'says of %s that no network leads there',
  (code) => {
    expect(failureOf(code).message).toBe(
      `There is no way to storage.example:443 from here (${code}): the network is off, or does not lead there`,
    )
  },
)

const system = (code: string, address: string) =>
  Object.assign(new Error(`connect ${code}`), { code, address, port: 443, syscall: 'connect', errno: -1 })
const failureWith = (thrown: unknown) =>
  networkFailure(thrown, {
    target: new URL('https://storage.example/o'),
    ...{ phase: 'connect', ending: 'neverWhole' },
  })

it('tells of several addresses of a host what became of one that could be tried: IPv6 may be off here', () => {
  const errors = [system('ENETUNREACH', '2001:db8::1'), system('ECONNREFUSED', '203.0.113.7')]

  const failure = failureWith(new AggregateError(errors))

  expect(failure.message).toBe('Connection to storage.example:443 was refused')
  expect(explainFailure(failure)).toEqual({ reason: 'connection refused', isOffline: false })
})

it('names the proxy, and not the host behind it, where it is the proxy that is not there', () => {
  const proxy = new URL('http://ana:word@proxy.example:3128')

  const failure = failureWith(new ProxyUnreachedError(proxy, system('ECONNREFUSED', '203.0.113.7')))

  expect(failure.message).toBe(
    'The proxy proxy.example:3128 could not be used for storage.example:443: Connection to proxy.example:3128 was refused',
  )
  expect(explainFailure(failure)).toEqual({
    reason: 'its proxy proxy.example:3128: connection refused',
    isOffline: false,
  })
})

it('knows that there is no network where neither version of IP has a way, whichever was tried first', () => {
  const errors = [system('ENETUNREACH', '2001:db8::1'), system('ENETUNREACH', '203.0.113.7')]
  const camerasAlone = () => ({ eth0: [{ address: '192.168.7.2', internal: false }] })

  const explain = explaining(camerasAlone)

  expect(explain(failureWith(new AggregateError(errors))).isOffline).toBe(true)
  expect(explain(failureWith(new AggregateError(errors.toReversed()))).isOffline).toBe(true)
})

it.each([
  ['IPv4 alone', ['10.0.0.7'], '2001:db8::1', false],
  ['IPv4 alone, which leads to its cameras', ['192.168.7.2'], '203.0.113.7', true],
  ['both', ['10.0.0.7', '2001:db8::7'], '2001:db8::1', true],
  ['no address', [], '2001:db8::1', true],
])('knows a machine with %s that has no network from one that has the other version of IP', (_, own, far, expected) => {
  const eth0 = own.map((address) => ({ address, internal: false }))

  const { reason, isOffline } = explaining(() => ({ eth0 }))(failureWith(system('ENETUNREACH', far)))

  expect({ reason, isOffline }).toEqual({ reason: 'no route to it', isOffline: expected })
})

it('claims nothing of the network for a failure that it cannot explain', () => {
  expect(explainFailure(failureOf('EPROTO'))).toEqual({ isOffline: false })
})

it('says of a host that is silent that it did not answer', () => {
  expect(failureOf('ETIMEDOUT').message).toBe('storage.example:443 did not answer while connecting (ETIMEDOUT)')
})
