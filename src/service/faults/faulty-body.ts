// A request body on a bad line: slow, stopped or cut at a byte, or with a flipped bit. Bytes pass at constant memory.

import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

import type { Fault } from './fault-plan.ts'
import { cut, type Holding } from './holding.ts'

export interface FaultyBodyOptions {
  readonly body: Readable
  readonly socket: Socket
  readonly fault: Fault
  readonly holding: Holding
  /** Called during deliberate waits, so that the silence is not blamed on the client. */
  readonly onTick: () => void
}

/** How many times a second the slow line lets bytes through. */
const STEPS_PER_SECOND = 20

/** The body as the fault lets it through. It fails when the fault cuts the connection. */
export function faultyBody(options: FaultyBodyOptions): Readable {
  const { fault } = options
  const touches =
    fault.slowLine !== undefined || fault.corrupt === true || fault.stall?.at === 'body' || fault.reset?.at === 'body'
  return touches ? Readable.from(pieces(options)) : options.body
}

async function* pieces({ body, socket, fault, holding, onTick }: FaultyBodyOptions): AsyncGenerator<Buffer> {
  const interruptions = interruptionsOf(fault)
  const keepGoing = (isThere: boolean) => {
    if (!isThere) throw new Error('The connection ended while the body was held back.')
  }
  const interrupt = async () => {
    const { kind } = interruptions.shift() ?? {}
    if (kind === 'stall') keepGoing(await holding.hold(socket, fault.stall?.forMs, onTick))
    if (kind === 'reset') {
      cut(socket, 'reset')
      keepGoing(false)
    }
  }
  let taken = 0
  let isTurned = fault.corrupt !== true
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    let rest = chunk
    while (rest.length > 0) {
      while (interruptions[0] !== undefined && interruptions[0].afterBytes <= taken) await interrupt()
      const most = Math.min(
        fault.slowLine === undefined ? Infinity : Math.ceil(fault.slowLine / STEPS_PER_SECOND),
        (interruptions[0]?.afterBytes ?? Infinity) - taken,
      )
      const piece = rest.subarray(0, most)
      rest = rest.subarray(piece.length)
      taken += piece.length
      if (fault.slowLine !== undefined) {
        keepGoing(await holding.hold(socket, (piece.length / fault.slowLine) * 1000, onTick))
        onTick()
      }
      yield isTurned ? piece : turned(piece)
      isTurned = true
    }
  }
  // A body that ends before the rule's byte is interrupted at its end.
  while (interruptions.length > 0) await interrupt()
}

interface Interruption {
  readonly kind: 'stall' | 'reset'
  readonly afterBytes: number
}

function interruptionsOf({ stall, reset }: Fault): Interruption[] {
  const found: Interruption[] = []
  if (stall?.at === 'body') found.push({ kind: 'stall', afterBytes: stall.afterBytes ?? 0 })
  if (reset?.at === 'body') found.push({ kind: 'reset', afterBytes: reset.afterBytes ?? 0 })
  return found.sort((a, b) => a.afterBytes - b.afterBytes)
}

function turned(piece: Buffer): Buffer {
  const copy = Buffer.from(piece)
  copy.writeUInt8(copy.readUInt8(0) ^ 1, 0)
  return copy
}
