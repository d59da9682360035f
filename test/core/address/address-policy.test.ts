import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkAddress,
  forbiddenHost,
  readAddressPolicy,
  type HostPolicy,
} from '../../../src/core/address/address-policy.ts'
import { isPublicHost, isPublicIp } from '../../../src/core/address/public-host.ts'

/** What a policy says of a host, through the address as a service would write it. */
function refusal(host: string, policy: Parameters<typeof readAddressPolicy>[0]): unknown {
  const addressPolicy = readAddressPolicy(policy, isPublicHost)
  try {
    checkAddress(`https://${host}/bucket/key?X-Amz-Signature=5ecret`, { addressPolicy })
    return undefined
  } catch (error) {
    return error
  }
}

describe('an address', () => {
  it('of plain HTTP off this machine is refused where nobody allowed that', () => {
    const isRefused = expect.objectContaining({ code: 'ERR_UPLOAD_INSECURE_URL' }) as Error
    expect(() => checkAddress('http://store.example/k', {})).toThrow(isRefused)
    expect(() => checkAddress('http://store.example/k', { isHttpAllowed: true })).not.toThrow()
  })

  it('that is forbidden is told with what its name stands for, where that says more', () => {
    const named = [forbiddenHost('a.example'), forbiddenHost('10.0.0.1', '10.0.0.1'), forbiddenHost('a.example', '::1')]
    expect(named.map(({ message }) => /the host (.*), which/.exec(message)?.[1])).toEqual([
      'a.example',
      '10.0.0.1',
      'a.example (::1)',
    ])
  })
})

describe('an IP address is public', () => {
  it.each([
    ...['8.8.8.8', '1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255'],
    ...['172.32.0.0', '169.253.0.1', '192.167.255.255', '198.17.0.1', '223.255.255.255'],
    ...['2600:1f18::1', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'],
    // Right beside networks that are not, and with a piece that means something elsewhere only.
    ...['2000::1', '2001:200::1', '2001:db9::1', '3ffe::1', '3fff:1000::1', '2600:1::1', '2600:db8::1'],
    ...['2600::ffff:a00:1', '2600:ff9b::a00:1', '2600::1:2:3:4:5:6', '2600:1:2:3:4:5:6:7'],
  ])('%s', (ip) => {
    expect(isPublicIp(ip)).toBe(true)
  })
})

describe('an IP address is not public', () => {
  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.9.9.9'],
    ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1', '192.0.0.8', '198.18.0.1', '224.0.0.1'],
    ...['255.255.255.255', '::', '::1', 'fc00::1', 'fdff:ffff::1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'ff02::1'],
    ...['fec0::1', '::ffff:10.0.0.1', '::ffff:a00:1', '::ffff:169.254.169.254', '::10.0.0.1', '64:ff9b::a00:1'],
    ...['64:ff9b:1::1', '2002:a00:1::1', '2002:7f00:1::', '2001:0:4136::1', '2001:db8::1'],
    ...['1fff::1', '4000::1', '2001:1ff::1', '3fff::1', '3fff:fff::1', '::808:808', '64:1::808:808'],
    ...['64:ff9b:1::808:808', '2002:a9fe:a9fe::1', '::ffff:192.0.2.1'],
    ...['', 'localhost', 'a.example', '1.2.3', '1.2.3.400', ':::', '1::2::3', '1:2:3:4:5:6:7', '12345::'],
    ...['8.8.8.256', '2600::1::2', '2600:1:2:3:4:5:6', '2600:1:2:3:4:5:6:7:8', '2600::1:2:3:4:5:6:7', '2600::12345'],
    ...['2600::g', '2600::8.8.8.256', '2600:1:2:3::4:5:6:7::8'],
  ])('%s', (ip) => {
    expect(isPublicIp(ip)).toBe(false)
  })

  it('in any form of the private networks, mapped into IPv6 as well', () => {
    const privates = fc.oneof(
      fc.tuple(fc.constant(10), fc.nat(255)),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 })),
      fc.constantFrom<[number, number]>([192, 168], [169, 254]),
      fc.tuple(fc.constantFrom(0, 127), fc.nat(255)),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 })),
    )
    fc.assert(
      fc.property(privates, fc.nat(255), fc.nat(255), ([a, b], c, d) => {
        const ip = [a, b, c, d].join('.')
        expect([isPublicIp(ip), isPublicIp(`::ffff:${ip}`), isPublicIp(`64:ff9b::${ip}`)]).toEqual([
          false,
          false,
          false,
        ])
      }),
    )
  })
})

describe('the policy public', () => {
  it.each([
    ...['10.1.2.3', '169.254.169.254', '127.0.0.1:9000', '0x7f.1', '2130706433', '017700000001', '192.168.1', '0'],
    ...[
      '[::1]',
      '[::ffff:10.0.0.1]',
      '[fe80::1]:443',
      '[fd00::1]',
      'localhost',
      'LOCALHOST',
      'a.localhost',
      'localhost.',
    ],
  ])('refuses https://%s, in whatever form the host is written', (host) => {
    expect(refusal(host, 'public')).toMatchObject({
      code: 'ERR_UPLOAD_INSECURE_URL',
      message: expect.stringMatching(
        /^The storage address names the host [^ ]+, which the address policy of this program does not allow\.$/,
      ) as string,
    })
  })

  it.each([
    'bucket.s3.eu-central-1.amazonaws.com',
    '8.8.8.8',
    '[2600:1f18::1]:9000',
    'notlocalhost',
    '10.0.0.1.example',
  ])('lets https://%s through', (host) => {
    expect(refusal(host, 'public')).toBeUndefined()
  })
})

describe('any other policy', () => {
  it('any lets every host through', () => {
    expect(refusal('10.1.2.3', 'any')).toBeUndefined()
  })

  it('a function decides alone, and is given the bare host', () => {
    const asked: string[] = []
    const policy = (host: string): boolean => {
      asked.push(host)
      return host.endsWith('.example')
    }

    expect(refusal('Store.Example:8443', policy)).toBeUndefined()
    expect(refusal('[::1]:9000', policy)).toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL', details: { host: '::1' } })
    expect(asked).toEqual(['store.example', '::1'])
  })

  it('a function that gives anything but true allows nothing: the promise of an async one is no permission', () => {
    for (const said of [Promise.resolve(true), Promise.resolve(false), 1, 'no', {}]) {
      const policy = (() => said) as unknown as HostPolicy
      expect(refusal('store.example', policy)).toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
    }
  })

  it('is refused when it is none', () => {
    expect(() => readAddressPolicy('private' as 'public')).toThrow('addressPolicy must be any, public or a function')
  })

  it('is refused where nothing says what public is', () => {
    expect(() => readAddressPolicy('public')).toThrow('isPublicHost of mocap-uplink')
  })
})

it('refuses addresses with a user, a control character or another scheme', () => {
  const refused = (address: string) => () => checkAddress(address, {})

  expect(refused('https://u@h.example/')).toThrow('An address has a user or a password in it.')
  expect(refused('https://h.example/\r\nx-injected: 1')).toThrow('An address has a control character in it.')
  expect(refused('file:///etc/passwd')).toThrow('is no http or https URL')
  expect(refused('javascript:alert(1)')).toThrow('is no http or https URL')
})
