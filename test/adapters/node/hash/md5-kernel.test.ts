import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import {
  KERNEL_LANES as LANES,
  KERNEL_LAYOUT,
  KERNEL_PAGES,
  md5Kernel,
} from '../../../../src/adapters/node/hash/md5-kernel.ts'

const START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
/** Bytes that each lane has for itself here. */
const LANE_BYTES = 16 * 1024

interface Kernel {
  begin(lane: number): void
  /** Puts bytes there, from an address that need not be a multiple of anything. */
  fill(lane: number, bytes: Uint8Array, offset?: number): void
  readonly take: (bytes: number) => void
  digest(lane: number): string
}

/** A kernel on a memory of its own. */
function load(): Kernel {
  const memory = new WebAssembly.Memory({ initial: KERNEL_PAGES, maximum: KERNEL_PAGES, shared: true })
  const instance = new WebAssembly.Instance(new WebAssembly.Module(md5Kernel()), { md5: { memory } })
  const view = new DataView(memory.buffer)
  const stateAt = (lane: number, r: number): number =>
    KERNEL_LAYOUT.statesAt + 4 * (16 * (lane >> 2) + 4 * r + (lane & 3))
  return {
    begin: (lane) => {
      START.forEach((word, r) => view.setUint32(stateAt(lane, r), word, true))
    },
    fill: (lane, bytes, offset = 0) => {
      const at = KERNEL_LAYOUT.freeAt + lane * LANE_BYTES + offset
      new Uint8Array(memory.buffer).set(bytes, at)
      view.setUint32(KERNEL_LAYOUT.lanesAt + 4 * lane, at, true)
    },
    take: instance.exports['take'] as (bytes: number) => void,
    digest: (lane) => START.map((_, r) => view.getUint32(stateAt(lane, r)).toString(16).padStart(8, '0')).join(''),
  }
}

/** A body with its padding, as the RFC has it. */
function padded(body: Uint8Array): Buffer {
  const end = Buffer.alloc(((119 - (body.length % 64)) % 64) + 9)
  end[0] = 0x80
  end.writeBigUInt64LE(BigInt(body.length) * 8n, end.length - 8)
  return Buffer.concat([body, end])
}

describe('the kernel', () => {
  it('gives each lane the digest of its own body, over several calls, wherever its bytes begin', () => {
    const kernel = load()
    const pieces = fc.array(fc.record({ count: fc.integer({ min: 1, max: 4 }), offset: fc.nat(65) }), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(pieces, fc.integer(), (blocks, seed) => {
        const length = blocks.reduce((sum, { count }) => sum + count, 0) * 64 - 9
        const bodies = Array.from({ length: LANES }, (_, lane) =>
          Buffer.from(Array.from({ length }, (__, index) => seed * (lane + 1) + index * (lane + 3))),
        )
        const wholes = bodies.map(padded)
        for (let lane = 0; lane < LANES; lane += 1) kernel.begin(lane)
        let at = 0
        for (const { count, offset } of blocks) {
          wholes.forEach((whole, lane) => kernel.fill(lane, whole.subarray(at, at + count * 64), (offset * lane) % 67))
          kernel.take(count * 64)
          at += count * 64
        }

        expect(bodies.map((_, lane) => kernel.digest(lane))).toEqual(
          bodies.map((body) => createHash('md5').update(body).digest('hex')),
        )
      }),
      { numRuns: 30 },
    )
  })

  it('takes many blocks at once', () => {
    const kernel = load()
    const bodies = Array.from({ length: LANES }, (_, lane) => Buffer.alloc(LANE_BYTES - 9, lane + 1))

    bodies.forEach((body, lane) => {
      kernel.begin(lane)
      kernel.fill(lane, padded(body))
    })
    kernel.take(LANE_BYTES)

    expect(bodies.map((_, lane) => kernel.digest(lane))).toEqual(
      bodies.map((body) => createHash('md5').update(body).digest('hex')),
    )
  })
})
