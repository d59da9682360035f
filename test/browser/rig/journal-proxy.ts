// A Journal in the test that delegates to one in a page.

import type { Page } from 'playwright-core'
import type { Journal } from '../../../src/core/ports.ts'
import { errorFromJson, type ErrorJson } from './errors-as-json.ts'

/** Returns the value, or throws what the page rejected with. */
export async function valueOf<T>(running: Promise<{ readonly value: T } | { readonly error: ErrorJson }>): Promise<T> {
  const outcome = await running
  if ('error' in outcome) throw errorFromJson(outcome.error)
  return outcome.value
}

/** `name` is the name of the database. */
export function journalInPage(page: Page, name: string): Journal {
  return {
    async open(key) {
      const { id, records } = await valueOf(page.evaluate((of) => rig.openJournal(of.name, of.key), { name, key }))
      return {
        ...{ key, records },
        append: (added) => valueOf(page.evaluate((of) => rig.appendTo(of.id, of.added), { id, added: [...added] })),
        close: () => valueOf(page.evaluate((of) => rig.closeJournal(of), id)),
      }
    },
    read: (key) => valueOf(page.evaluate((of) => rig.readJournal(of.name, of.key), { name, key })),
    list: () => valueOf(page.evaluate((of) => rig.listJournal(of), name)),
    remove: (key) => valueOf(page.evaluate((of) => rig.removeFromJournal(of.name, of.key), { name, key })),
  }
}
