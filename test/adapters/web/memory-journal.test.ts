import { describe, expect, it } from 'vitest'

import { memoryJournal } from '../../../src/adapters/web/memory-journal.ts'
import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import { journalContract } from '../../../src/testing/journal-contract.ts'

journalContract('memoryJournal', () => Promise.resolve({ journal: memoryJournal() }))

describe('memoryJournal', () => {
  it('shares nothing with another one', async () => {
    const first = await memoryJournal().open('night-1')
    await first.append([{ type: 'session.creating', at: 1 }])

    expect(await memoryJournal().list()).toEqual([])
  })

  it('keeps a field named __proto__ as any other, and its own copy of what is in it', async () => {
    const text = '{"type":"session.creating","at":1,"__proto__":{"fileIds":[1]},"constructor":null}'
    const [journal, record] = [memoryJournal(), JSON.parse(text) as JournalRecord]
    const session = await journal.open('night-1')
    await session.append([record])
    const own: unknown = Reflect.getOwnPropertyDescriptor(record, '__proto__')?.value
    ;(own as { readonly fileIds: number[] }).fileIds.push(2)

    expect(JSON.stringify(await journal.read('night-1'))).toBe(`[${text}]`)
  })

  it.each([
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    [
      'an object of a class that holds one',
      new (class Holder {
        readonly call = () => 1
      })(),
    ],
  ])('keeps nothing of a batch with a record that is not plain data, but has %s', async (_, callback) => {
    const journal = memoryJournal()
    const session = await journal.open('night-1')
    const impossible = { type: 'session.creating', at: 2, callback } as unknown as JournalRecord

    const appending = session.append([{ type: 'session.creating', at: 1 }, impossible])

    await expect(appending).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    expect(await journal.list()).toEqual([])
  })
})
