// The page's end of the journal proxy.

import type { JournalRecord } from '../../../src/core/journal/journal.ts'
import type { Journal, SessionJournal } from '../../../src/core/ports.ts'
import { errorToJson, type ErrorJson } from './errors-as-json.ts'

type Outcome<T> = { readonly value: T } | { readonly error: ErrorJson }

export async function outcomeOf<T>(work: () => Promise<T> | T): Promise<Outcome<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    return { error: errorToJson(error) }
  }
}

export function serveJournal(make: (name: string) => Journal) {
  const journals = new Map<string, Journal>()
  const sessions: SessionJournal[] = []
  const journalOf = (name: string): Journal => {
    const journal = journals.get(name) ?? make(name)
    journals.set(name, journal)
    return journal
  }
  const sessionOf = (id: number): SessionJournal => {
    const session = sessions[id]
    if (session === undefined) throw new Error('No such session.')
    return session
  }
  return {
    openJournal: (name: string, key: string) =>
      outcomeOf(async () => {
        const session = await journalOf(name).open(key)
        return { id: sessions.push(session) - 1, records: [...session.records] }
      }),
    appendTo: (id: number, records: JournalRecord[]) => outcomeOf(() => sessionOf(id).append(records)),
    closeJournal: (id: number) => outcomeOf(() => sessionOf(id).close()),
    readJournal: (name: string, key: string) => outcomeOf(async () => [...(await journalOf(name).read(key))]),
    listJournal: (name: string) => outcomeOf(async () => [...(await journalOf(name).list())]),
    removeFromJournal: (name: string, key: string) => outcomeOf(() => journalOf(name).remove(key)),
  }
}
