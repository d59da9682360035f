// What MD5 costs the thread that feeds the sockets: hashed on that thread, on a worker thread from windows in the
// worker's memory, or on a worker thread from plain windows. For small bodies, also at which size the worker begins to
// pay. The three take turns, so that a busy machine affects all alike.
// Run it with Node 22.18 or newer, which reads TypeScript: node bench/micro/hash.ts [MiB per turn] [turns]

import { performance } from 'node:perf_hooks'

import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { workerHasher } from '../../src/adapters/node/hash/worker-hasher.ts'
import type { Hasher } from '../../src/core/ports.ts'

interface Subject {
  readonly name: string
  readonly hasher: Hasher
  readonly allocate: (bytes: number) => Uint8Array
}

interface Cost {
  readonly gigabytesPerSecond: number
  /** How long this thread was busy, per MiB. */
  readonly busyMicroseconds: number
  /** Processor time of all threads, per MiB. */
  readonly cpuMicroseconds: number
}

const KIB = 1024
const MIB = 1024 * KIB
const BODIES_AT_ONCE = 8
const [mibPerTurn = 256, turns = 3] = process.argv.slice(2).map(Number)

const threads = workerHasher({ smallBodyBytes: 0 })
const plain = (bytes: number): Uint8Array => new Uint8Array(bytes)
const subjects: readonly Subject[] = [
  { name: 'calling thread', hasher: md5Hasher(), allocate: plain },
  { name: 'thread, its own windows', hasher: threads, allocate: threads.allocate },
  { name: 'thread, plain windows', hasher: threads, allocate: plain },
]

/** Hashes several bodies at once, each through two windows, and lets the event loop turn between pieces. */
async function measure(
  subject: Subject,
  pairs: readonly (readonly Uint8Array[])[],
  { windowBytes, bodyBytes, totalBytes }: { windowBytes: number; bodyBytes: number; totalBytes: number },
): Promise<Cost> {
  let bodiesLeft = Math.max(BODIES_AT_ONCE, Math.floor(totalBytes / bodyBytes))
  const hashedMib = (bodiesLeft * bodyBytes) / MIB
  const cpuBefore = process.cpuUsage()
  const loopBefore = performance.eventLoopUtilization()
  const startedAt = performance.now()
  await Promise.all(
    pairs.map(async (windows) => {
      while (bodiesLeft-- > 0) {
        const hash = subject.hasher.start()
        for (let at = 0, turn = 0; at < bodyBytes; at += windowBytes, turn += 1) {
          await hash.update(windows[turn % 2]!.subarray(0, bodyBytes - at))
          await new Promise(setImmediate)
        }
        await hash.digest()
      }
    }),
  )
  const elapsedMs = performance.now() - startedAt
  const { active } = performance.eventLoopUtilization(loopBefore)
  const cpu = process.cpuUsage(cpuBefore)
  return {
    gigabytesPerSecond: (hashedMib * MIB) / 1e6 / elapsedMs,
    busyMicroseconds: (active * 1_000) / hashedMib,
    cpuMicroseconds: (cpu.user + cpu.system) / hashedMib,
  }
}

async function compare(title: string, windowBytes: number, bodyBytes: number, totalBytes: number): Promise<void> {
  const costs = subjects.map((): Cost[] => [])
  // Allocated once for all turns, because a hasher never frees what it has allocated.
  const pairs = subjects.map(({ allocate }) =>
    Array.from({ length: BODIES_AT_ONCE }, () => [1, 2].map((value) => allocate(windowBytes).fill(value))),
  )
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [index, subject] of subjects.entries()) {
      costs[index]!.push(await measure(subject, pairs[index]!, { windowBytes, bodyBytes, totalBytes }))
    }
  }
  for (const [index, { name }] of subjects.entries()) {
    // The median, because one turn that the machine disturbed says nothing.
    const middle = (of: (cost: Cost) => number): number =>
      costs[index]!.map(of).sort((one, other) => one - other)[turns >> 1]!
    const cells = [
      middle((cost) => cost.gigabytesPerSecond).toFixed(2),
      middle((cost) => cost.busyMicroseconds).toFixed(0),
      middle((cost) => cost.cpuMicroseconds).toFixed(0),
    ]
    console.log(title.padEnd(34) + name.padEnd(26) + cells.map((cell) => cell.padStart(9)).join(''))
  }
}

console.log(`Node ${process.version}, ${String(mibPerTurn)} MiB a turn, median of ${String(turns)} turns`)
console.log(`${''.padEnd(60)}     GB/s busy/MiB  cpu/MiB  (µs)`)
await compare('', 256 * KIB, 4 * MIB, 32 * MIB)
console.log('(the lines above warm up)')
for (const kib of [64, 256, 1_024]) {
  await compare(`16 MiB parts, ${String(kib)} KiB windows`, kib * KIB, 16 * MIB, mibPerTurn * MIB)
}
for (const kib of [16, 32, 64, 128, 256]) {
  await compare(`bodies of ${String(kib)} KiB`, kib * KIB, kib * KIB, (mibPerTurn * MIB) / 4)
}
await threads.close()
