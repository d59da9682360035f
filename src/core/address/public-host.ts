// Which hosts are on the public internet, as far as their address tells.

/** Whether an IP address, IPv4 or IPv6 as text, is on the public internet. False for what is no IP address. */
export function isPublicIp(ip: string): boolean {
  const v4 = parseIpv4(ip)
  if (v4 !== undefined) return isPublicIpv4(v4)
  const groups = parseIpv6(ip.replace(/%.*$/s, ''))
  return groups !== undefined && isPublicIpv6(groups)
}

/**
 * What `addressPolicy: 'public'` allows: no host on a private, link-local, loopback, unspecified or otherwise special network,
 * as far as the address tells. Names other than `localhost` are judged where they are resolved.
 */
export function isPublicHost(host: string): boolean {
  if (parseIpv4(host) !== undefined || host.includes(':')) return isPublicIp(host)
  return !/(?:^|\.)localhost\.?$/i.test(host)
}

/** First address and prefix length of the networks that are not the public internet (IANA's special-purpose registry). */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, and everything reserved above it, broadcast included.
  ['224.0.0.0', 3],
]

function isPublicIpv4(ip: number): boolean {
  return !SPECIAL_IPV4.some(([first, length]) => ((parseIpv4(first) ?? 0) ^ ip) >>> 0 < 2 ** (32 - length))
}

/** Global unicast is 2000::/3. Some addresses, in it and beside it, carry an IPv4 address, which then decides. */
function isPublicIpv6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const isZero = (...some: number[]): boolean => some.every((group) => group === 0)
  if (isZero(a, b, c, d, e) && f === 0xffff) return isPublicIpv4(g * 0x10000 + h)
  if (a === 0x64 && b === 0xff9b && isZero(c, d, e, f)) return isPublicIpv4(g * 0x10000 + h)
  if (a === 0x2002) return isPublicIpv4(b * 0x10000 + c)
  // Teredo, benchmarking and the like (2001::/23), and the ranges for documentation.
  if ((a === 0x2001 && b < 0x200) || (a === 0x2001 && b === 0xdb8) || (a === 0x3fff && b < 0x1000)) return false
  return a >= 0x2000 && a <= 0x3fff
}

function parseIpv4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  const bytes = match?.slice(1).map(Number) ?? []
  if (bytes.length < 4 || bytes.some((byte) => byte > 255)) return undefined
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}

/** The eight groups; a dotted IPv4 tail counts as two. */
function parseIpv6(text: string): number[] | undefined {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/s.exec(text)
  const v4 = parseIpv4(tail?.[2] ?? '')
  const plain =
    v4 === undefined
      ? text
      : `${tail?.[1] ?? ''}${Math.floor(v4 / 0x10000).toString(16)}:${(v4 % 0x10000).toString(16)}`
  const halves = plain.split('::')
  const [left = [], right = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - left.length - right.length
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return undefined
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined
}
