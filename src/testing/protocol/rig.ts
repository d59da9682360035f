// What each test of a protocol has: the protocol over a line that can fail, its far end, and files to send.

import { expect, onTestFinished } from 'vitest'
import { bytesSource } from '../../adapters/web/bytes-source.ts'
import type { Protocol, Transport, TransportRequest } from '../../core/ports.ts'
import { bytesOfSeed, runProtocol, type ProtocolRun, type ProtocolRunOptions } from '../protocol-run.ts'
import { faultyLine, type Fault } from './faulty-line.ts'

/** A protocol with its far end. */
export interface ProtocolSubject {
  readonly protocol: Protocol
  readonly transport: Transport
  /** Puts what the protocol needs between the engine and the network. Default: nothing. */
  readonly over?: (transport: Transport) => Transport
  /** Credentials of the service; no unit may carry one. */
  readonly credentials: readonly string[]
  /** Default: none is asked for. */
  readonly partSizeBytes?: number
  /** The bytes of a finished file; undefined while it is not finished. */
  stored(name: string): Promise<Uint8Array | undefined>
  /** Whether the far end still waits for anything of a session. */
  isOpen(sessionId: string | number): Promise<boolean>
  close(): Promise<void>
}

/** Names and sizes of the files that are sent, one of them empty. */
export const FILES = [
  ['swing 1.mp4', 3_500],
  ['__proto__', 1],
  ['empty.mov', 0],
  ['ünïcode.mp4', 1_000],
] as const

export interface ProtocolRig {
  /** Starts the protocol with its far end. `fault`: what fails on the line between them. */
  begin(fault?: Fault): Promise<BegunProtocol>
}

export interface BegunProtocol extends ProtocolSubject {
  /** The units that were sent, in order. */
  readonly units: readonly TransportRequest[]
  /** Uploads all files. */
  run(options?: Partial<ProtocolRunOptions>): Promise<ProtocolRun>
}

export function protocolRig(start: () => Promise<ProtocolSubject>): ProtocolRig {
  async function begin(fault?: Fault): Promise<BegunProtocol> {
    const subject = await start()
    onTestFinished(() => subject.close())
    const line = faultyLine(subject.transport, fault, FILES.length)
    const transport = subject.over?.(line.transport) ?? line.transport
    const sources = FILES.map(([name, sizeBytes], seed) => bytesSource(name, bytesOfSeed(sizeBytes, seed)))
    const run = (options: Partial<ProtocolRunOptions> = {}) =>
      runProtocol({
        protocol: subject.protocol,
        transport,
        sources,
        ...(subject.partSizeBytes === undefined ? {} : { partSizeBytes: subject.partSizeBytes }),
        ...options,
      })
    return { ...subject, transport: line.transport, units: line.units, run }
  }
  return { begin }
}

/** Every file is stored with the bytes of its source. */
export async function expectAllStored(subject: ProtocolSubject): Promise<void> {
  for (const [seed, [name, sizeBytes]] of FILES.entries()) {
    const bytes = await subject.stored(name)
    expect(bytes && Buffer.from(bytes).equals(bytesOfSeed(sizeBytes, seed)), name).toBe(true)
  }
}
