import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import {
  KERNEL_WIDTHS,
  LANE_BYTES,
  LANES_AT,
  md5Kernel,
  type KernelWidth,
} from '../../../../src/adapters/node/hash/md5-kernel.ts'

const START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]

interface Kernel {
  begin(lane: number): void
  fill(lane: number, bytes: Uint8Array): void
  readonly take: (bytes: number) => void
  digest(lane: number): string
}

/** A kernel on a memory of its own. */
function load(width: KernelWidth): Kernel {
  const memory = new WebAssembly.Memory({ initial: Math.ceil((LANES_AT + width * LANE_BYTES) / 65_536) })
  const instance = new WebAssembly.Instance(new WebAssembly.Module(md5Kernel(width)), { md5: { memory } })
  const view = new DataView(memory.buffer)
  const stateAt = (lane: number, r: number): number => 4 * (16 * (lane >> 2) + 4 * r + (lane & 3))
  return {
    begin: (lane) => {
      START.forEach((word, r) => view.setUint32(stateAt(lane, r), word, true))
    },
    fill: (lane: number, bytes: Uint8Array) => new Uint8Array(memory.buffer).set(bytes, LANES_AT + lane * LANE_BYTES),
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

describe.each(KERNEL_WIDTHS)('the kernel for %d bodies at once', (width) => {
  it('gives each lane the digest of its own body, over several calls', () => {
    const kernel = load(width)
    const pieces = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(pieces, fc.integer(), (blocks, seed) => {
        const length = blocks.reduce((sum, count) => sum + count, 0) * 64 - 9
        const bodies = Array.from({ length: width }, (_, lane) =>
          Buffer.from(Array.from({ length }, (__, index) => seed * (lane + 1) + index * (lane + 3))),
        )
        const wholes = bodies.map(padded)
        for (let lane = 0; lane < width; lane += 1) kernel.begin(lane)
        let at = 0
        for (const count of blocks) {
          wholes.forEach((whole, lane) => kernel.fill(lane, whole.subarray(at, at + count * 64)))
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

  it('takes a whole lane at once', () => {
    const kernel = load(width)
    const bodies = Array.from({ length: width }, (_, lane) => Buffer.alloc(LANE_BYTES - 9, lane + 1))

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
