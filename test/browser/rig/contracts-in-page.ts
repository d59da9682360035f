// The suites of ports that cannot be driven from outside the page: a clock must answer synchronously, and the slices of
// a source cannot leave the page in which they were made. Each test is run by its name.

import { pageClock } from '../../../src/adapters/browser/page-clock.ts'
import { blobSource } from '../../../src/adapters/web/blob-source.ts'
import { bytesSource } from '../../../src/adapters/web/bytes-source.ts'
import { clockContract } from '../../../src/testing/clock-contract.ts'
import { sourceContract } from '../../../src/testing/source-contract.ts'
import { tests } from './vitest-in-page.ts'

/** Implemented by the test: lets time pass, because the test simulates the page's timers. */
declare function rigAdvance(ms: number): Promise<void>
/** Implemented by the test: writes a file and picks it in the page. With `isAgain` it only writes. */
declare function rigPick(text: string, isAgain: boolean): Promise<void>

/** The part of Node's Buffer that the suites use. They use it because it prints well in Node. */
Object.assign(globalThis, {
  Buffer: {
    from: (bytes: ArrayLike<number>) => Uint8Array.from(bytes),
    alloc: (length: number, filling: number) => new Uint8Array(length).fill(filling),
  },
})

clockContract('pageClock', () => ({ clock: pageClock(), advance: (ms) => rigAdvance(ms) }))

sourceContract('blobSource over a File of the page', (bytes) =>
  Promise.resolve({ source: blobSource(new File([Uint8Array.from(bytes)], 'take-7.mp4', { lastModified: 5 })) }),
)

sourceContract('blobSource over a picked File', async (bytes) => {
  // Not as arguments of one call, of which there can be no two million.
  const textOf = (all: Uint8Array): string => Array.from(all, (byte) => String.fromCharCode(byte)).join('')
  await rigPick(textOf(bytes), false)
  const [file] = document.querySelector<HTMLInputElement>('#files')!.files!
  return {
    source: blobSource('take-7.mp4', file!),
    changes: {
      'it became longer': () => rigPick(`${textOf(bytes)}!`, true),
      'it became shorter': () => rigPick(textOf(bytes).slice(1), true),
    },
  }
})

sourceContract('bytesSource', (given) => {
  const bytes = Uint8Array.from(given)
  return Promise.resolve({
    source: bytesSource('take-7.mp4', bytes),
    changes: { 'its memory was transferred away': () => void structuredClone(bytes, { transfer: [bytes.buffer] }) },
  })
})

declare global {
  var contracts: { names(): string[]; run(name: string): Promise<void> }
}
globalThis.contracts = {
  names: () => [...tests.keys()],
  async run(name) {
    const test = tests.get(name)
    if (test === undefined) throw new Error(`There is no test called ${name}.`)
    await test()
  },
}
