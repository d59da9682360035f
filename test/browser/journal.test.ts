// The journal of pages in a real Chromium: the suite of all journals, with another tab as the other process, and what is
// its own: a tab that dies, a database of a newer page, and its bounds.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JournalRecord } from '../../src/core/journal/journal.ts'
import { recordText } from '../../src/core/journal/record-text.ts'
import { journalContract } from '../../src/testing/journal-contract.ts'
import { chromiumPath, launchChromium } from './rig/chromium.ts'
import { journalInPage } from './rig/journal-proxy.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser
  let pages: PageServer
  let context: BrowserContext
  let page: Page
  let otherTab: Page
  let count = 0

  beforeAll(async () => {
    pages = await servePages(await bundleScripts())
    browser = await launchChromium()
    context = await browser.newContext()
    page = await openTab()
    otherTab = await openTab()
  })
  afterAll(async () => {
    await browser.close()
    await pages.close()
  })

  async function openTab(): Promise<Page> {
    const tab = await context.newPage()
    await tab.goto(pages.url)
    return tab
  }
  /** From now on, the tab's title tells each rejection that reaches its page. */
  const titleByRejections = (tab: Page) =>
    tab.evaluate(() => {
      window.addEventListener('unhandledrejection', ({ reason }) => (document.title += ` ${String(reason)}`))
      document.title = 'unhandled:'
    })
  const newName = () => `journal ${String((count += 1))}`

  journalContract('indexedDbJournal', () => {
    const name = newName()
    return Promise.resolve({ journal: journalInPage(page, name), another: () => journalInPage(otherTab, name) })
  })

  test('gives the lease of a tab that died to the next, with all it had appended', async () => {
    const name = newName()
    const tab = await openTab()
    const session = await journalInPage(tab, name).open('night-1')
    await session.append([{ type: 'session.creating', at: 1 }])
    await expect(journalInPage(page, name).open('night-1')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message:
        'The session "night-1" is being uploaded already, here or in another tab. Go on there, or close that tab first.',
    })

    await tab.close()

    // The browser ends the tab in its own time.
    const next = await vi.waitFor(() => journalInPage(page, name).open('night-1'), 30_000)
    expect(next.records).toEqual([{ type: 'session.creating', at: 1 }])
    await next.close()
  })

  test('takes a lease that is free, however late the browser is to give it, and says of no other that it is taken', async () => {
    const name = newName()
    // A page that was loaded just now, in a browser that answers nothing in the time that it is given.
    const tab = await openTab()
    await tab.evaluate(() => {
      performance.now = () => 0
      AbortSignal.timeout = () => AbortSignal.abort(new DOMException('Too late.', 'TimeoutError'))
    })

    const session = await journalInPage(tab, name).open('night-1')

    const other = await openTab()
    await expect(journalInPage(other, name).open('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await expect(journalInPage(tab, name).open('night-1')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await session.close()
    await Promise.all([tab.close(), other.close()])
  })

  test('makes its copy at the call: what is done to a record after it is not seen', async () => {
    const kept = await page.evaluate(async (name) => {
      const journal = rig.indexedDbJournal({ name })
      const session = await journal.open('k')
      const record = { type: 'parts.voided' as const, at: 5, fileIndex: 0, partNumbers: [1] }
      const appended = session.append([record])
      record.partNumbers.push(2)
      await appended
      await session.close()
      return journal.read('k')
    }, newName())

    expect(kept).toEqual([{ type: 'parts.voided', at: 5, fileIndex: 0, partNumbers: [1] }])
  })

  test('lets a receipt wait for others, and the last one for none', async () => {
    // Its clock stands still, so it is a tab of its own.
    const tab = await openTab()
    const waits = await tab.evaluate(async (name) => {
      const session = await rig.indexedDbJournal({ name }).open('k')
      const file = { fileIndex: 0, name: 'a.mp4', sizeBytes: 2, partCount: 2, partSizeBytes: 1 }
      const about = { version: 1, key: 'k', flow: 'video', params: {}, files: [file], locations: [] } as const
      const received = (partNumber: number): JournalRecord => ({
        ...{ type: 'part.received', at: 2, fileIndex: 0, partNumber },
        receipt: { acceptedEnd: partNumber, isVerified: false },
      })
      await session.append([{ type: 'session.begun', at: 1, ...about }])
      let timers = 0
      const { setTimeout: setReal } = window
      const nowMs = performance.now()
      performance.now = () => nowMs
      window.setTimeout = ((...given: Parameters<typeof setReal>) => {
        timers += 1
        return setReal(...given)
      }) as typeof setReal
      const counts: number[] = []
      for (const partNumber of [1, 2]) {
        timers = 0
        await session.append([received(partNumber)])
        counts.push(timers)
      }
      await session.close()
      return counts
    }, newName())

    await tab.close()

    expect(waits).toEqual([1, 0])
  })

  test('has on the disk what a power cut must not take before it goes on, and receipts alone in their own time', async () => {
    const tab = await openTab()
    const asked = await tab.evaluate(async (name) => {
      const durabilities: unknown[] = []
      const { transaction } = IDBDatabase.prototype
      IDBDatabase.prototype.transaction = function (stores, mode, how) {
        if (mode === 'readwrite') durabilities.push(how?.durability)
        return transaction.call(this, stores, mode, how)
      }
      const session = await rig.indexedDbJournal({ name }).open('k')
      const received = { type: 'part.received', at: 2, fileIndex: 0, partNumber: 1, receipt: {} }
      const resumed = { type: 'session.resumed', at: 3 }
      for (const some of [[resumed], [received], [received, resumed]]) await session.append(some as JournalRecord[])
      return durabilities
    }, newName())
    await tab.close()
    expect(asked).toEqual(['strict', 'relaxed', 'strict'])
  })

  test('refuses what is not plain data, and keeps nothing of that batch', async () => {
    const outcome = await page.evaluate(async (name) => {
      const journal = rig.indexedDbJournal({ name })
      const session = await journal.open('k')
      const impossible = { type: 'session.creating', at: 2, callback: () => 1 } as unknown as JournalRecord
      const code = await Promise.resolve(session.append([{ type: 'session.creating', at: 1 }, impossible])).then(
        () => 'kept',
        (error: unknown) => (error as { code: string }).code,
      )
      await session.close()
      return { code, keys: await journal.list() }
    }, newName())

    expect(outcome).toEqual({ code: 'ERR_UPLOAD_JOURNAL', keys: [] })
  })

  test('writes nothing more and lets go when its lease was stolen', async () => {
    const name = newName()
    const tab = await openTab()
    await titleByRejections(tab)
    const session = await journalInPage(tab, name).open('k')
    await session.append([{ type: 'session.creating', at: 1 }])
    await otherTab.evaluate(async () => {
      const { held = [] } = await navigator.locks.query()
      for (const { name: lock } of held) await navigator.locks.request(lock!, { steal: true }, () => undefined)
    })
    const next = await journalInPage(otherTab, name).open('k')
    await next.append([{ type: 'session.creating', at: 2 }])

    await expect(session.append([{ type: 'session.creating', at: 3 }])).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
    })
    await session.close()
    await next.close()

    expect(await journalInPage(page, name).read('k')).toEqual([
      { type: 'session.creating', at: 1 },
      { type: 'session.creating', at: 2 },
    ])
    expect(await tab.title()).toBe('unhandled:')
    await tab.close()
  })

  test('says that there is no more room where the browser says it of one request, as Safari does', async () => {
    const name = newName()
    const tab = await openTab()
    const session = await journalInPage(tab, name).open('k')
    await tab.evaluate(() => {
      const { add } = IDBObjectStore.prototype
      IDBObjectStore.prototype.add = function (value, key) {
        add.call(this, value, key)
        // Of one key there is one row, so the second fails by itself. Its transaction has no error yet when it says so.
        const failing = add.call(this, value, key)
        return Object.defineProperty(failing, 'error', { value: new DOMException('', 'QuotaExceededError') })
      }
    })

    await expect(session.append([{ type: 'session.creating', at: 1 }])).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: expect.stringContaining('no more room') as string,
    })
    await session.close()
    await tab.close()
  })

  test('leaves no rejection to the page where the browser gives up a question of its own', async () => {
    const name = newName()
    const tab = await openTab()
    await titleByRejections(tab)
    await tab.evaluate(() => {
      const { getAll } = IDBObjectStore.prototype
      IDBObjectStore.prototype.getAll = function (range) {
        const asked = getAll.call(this, range)
        queueMicrotask(() => this.transaction.abort())
        return asked
      }
    })
    const journal = journalInPage(tab, name)

    for (const asking of [journal.list(), journal.read('k')])
      await expect(asking).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })

    expect(await tab.title()).toBe('unhandled:')
    await tab.close()
  })

  test('writes nothing of a session whose site was cleared into one that has begun since', async () => {
    const name = newName()
    const journal = journalInPage(page, name)
    const lost = await journal.open('lost')
    await lost.append([{ type: 'session.creating', at: 1 }])
    await page.evaluate(
      (of) => new Promise((resolve) => (indexedDB.deleteDatabase(of).onsuccess = () => resolve(undefined))),
      name,
    )

    const next = await journal.open('next')
    await next.append([{ type: 'session.creating', at: 2 }])
    await lost.append([{ type: 'session.creating', at: 3 }])
    await lost.append([{ type: 'session.settled', at: 4, status: 'confirmed' }])
    await next.append([{ type: 'session.creating', at: 5 }])
    await Promise.all([lost.close(), next.close()])

    expect(await journal.read('next')).toEqual([
      { type: 'session.creating', at: 2 },
      { type: 'session.creating', at: 5 },
    ])
    expect(await journal.list()).toEqual(['next'])
  })

  test('lets go of a session that it cannot read, so that it can be removed as the error says', async () => {
    const name = newName()
    const journal = journalInPage(page, name)
    const session = await journal.open('night-1')
    await session.append([{ type: 'session.creating', at: 1 }])
    await session.close()
    await page.evaluate(
      (of) =>
        new Promise<void>((resolve) => {
          const opening = indexedDB.open(of)
          opening.onsuccess = () => {
            const tx = opening.result.transaction('records', 'readwrite')
            tx.objectStore('records').openCursor().onsuccess = ({ target }) =>
              (target as IDBRequest<IDBCursorWithValue>).result.update('{"type":')
            tx.oncomplete = () => {
              opening.result.close()
              resolve()
            }
          }
        }),
      name,
    )

    for (let time = 0; time < 2; time += 1)
      await expect(journal.open('night-1')).rejects.toThrow('is damaged in line 1')
    await journal.remove('night-1')

    expect(await journal.list()).toEqual([])
  })

  test('says to reload when a newer page has used the database', async () => {
    const name = newName()
    await page.evaluate(
      (of) =>
        new Promise<void>((resolve, reject) => {
          const opening = indexedDB.open(of, 99)
          opening.onerror = () => reject(new Error('not opened'))
          opening.onsuccess = () => {
            opening.result.close()
            resolve()
          }
        }),
      name,
    )

    await expect(journalInPage(page, name).list()).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      message: expect.stringContaining('Reload the page') as string,
    })
  })

  test('says to close the tab that keeps an older version open, and goes on when it has', async () => {
    const name = newName()
    const journal = journalInPage(page, name)
    // An old page that does not let go when a newer one asks it to.
    await otherTab.evaluate(async (of) => {
      const request = indexedDB.open(of, 1)
      request.onupgradeneeded = () => request.result.createObjectStore('sessions')
      await new Promise((resolve) => (request.onsuccess = resolve))
      document.addEventListener('click', () => request.result.close(), { once: true })
    }, name)

    for (let time = 0; time < 2; time += 1) {
      await expect(journal.list()).rejects.toMatchObject({
        code: 'ERR_UPLOAD_JOURNAL',
        message: expect.stringMatching(/another tab has an older version .* Close or reload that tab/) as string,
      })
    }

    await otherTab.evaluate(() => document.dispatchEvent(new Event('click')))
    expect(await vi.waitFor(() => journal.list(), 30_000)).toEqual([])
  })

  test('goes on with the open sessions of a version 1 database, in which each record was a row', async () => {
    const name = newName()
    const rows = [
      { type: 'session.creating', at: 1 },
      { type: 'parts.voided', at: 2, fileIndex: 0, partNumbers: [1, 2] },
    ] as const
    await page.evaluate(
      ({ of, texts }) =>
        new Promise<void>((resolve, reject) => {
          const opening = indexedDB.open(of, 1)
          opening.onerror = () => reject(new Error('not opened'))
          opening.onupgradeneeded = () => {
            const database = opening.result
            const sessions = database.createObjectStore('sessions', { autoIncrement: true })
            sessions.createIndex('key', 'key', { unique: true })
            const records = database.createObjectStore('records')
            database.createObjectStore('handles')
            sessions.add({ key: 'night-1', isSettled: false })
            texts.forEach((text, index) => records.add(text, [1, index + 1]))
          }
          opening.onsuccess = () => {
            opening.result.close()
            resolve()
          }
        }),
      { of: name, texts: rows.map((record) => recordText(record)) },
    )
    const journal = journalInPage(page, name)

    const session = await journal.open('night-1')
    await session.append([
      { type: 'session.cancelling', at: 3 },
      { type: 'session.settled', at: 4, status: 'cancelled' },
    ] as JournalRecord[])
    await session.close()

    expect(session.records).toEqual(rows)
    expect(await journal.list()).toEqual(['night-1'])
    expect(await journalInPage(otherTab, name).read('night-1')).toEqual([
      ...rows,
      { type: 'session.cancelling', at: 3 },
      { type: 'session.settled', at: 4, status: 'cancelled' },
    ])
  })

  test('shortens a long history when it is opened', async () => {
    const name = newName()
    const journal = journalInPage(page, name)
    const files = [{ fileIndex: 0, name: 'a', sizeBytes: 5, partCount: 1, partSizeBytes: 5 }]
    const begun = {
      type: 'session.begun',
      at: 1,
      version: 1,
      key: 'k',
      flow: 'video',
      params: {},
      files,
      locations: ['a'],
    }
    const doubtful = Array.from({ length: 300 }, (_, at) => ({
      type: 'part.doubtful',
      at,
      fileIndex: 0,
      partNumber: 1,
    }))
    const session = await journal.open('k')
    await session.append([begun, ...doubtful] as JournalRecord[])
    await session.close()

    await (await journal.open('k')).close()
    const again = await journal.open('k')
    await again.append([{ type: 'session.cancelling', at: 999 }])
    await again.close()

    const kept = await journal.read('k')
    expect(kept.length).toBeLessThan(5)
    expect(kept[0]).toEqual(begun)
    expect(kept.at(-1)).toEqual({ type: 'session.cancelling', at: 999 })
  })

  test('leaves a long history as it is where the short one would be more than half as long', async () => {
    const name = newName()
    const journal = journalInPage(page, name)
    const rows = longHistory(300, 300)
    const session = await journal.open('k')
    await session.append(rows)
    await session.close()

    await (await journal.open('k')).close()

    expect(await journal.read('k')).toEqual(rows)
  })

  test('knows of a history that it made short, too, which part is the last to come', async () => {
    const name = newName()
    const journal = journalInPage(page, name)
    const begun = await journal.open('k')
    await begun.append(longHistory(2, 300))
    await begun.close()
    await (await journal.open('k')).close()
    expect(await journal.read('k')).toHaveLength(2)

    const tab = await openTab()
    const timers = await tab.evaluate(async (of) => {
      const session = await rig.indexedDbJournal({ name: of }).open('k')
      await session.append([{ type: 'session.resumed', at: 3 }])
      let count = 0
      const { setTimeout: setReal } = window
      const nowMs = performance.now()
      performance.now = () => nowMs
      window.setTimeout = ((...given: Parameters<typeof setReal>) => {
        count += 1
        return setReal(...given)
      }) as typeof setReal
      const receipt = { acceptedEnd: 2, isVerified: false }
      await session.append([{ type: 'part.received', at: 4, fileIndex: 0, partNumber: 2, receipt }])
      await session.close()
      return count
    }, name)
    await tab.close()

    expect(timers).toBe(0)
  })

  test('keeps the newest 100 of the sessions that are over, and every one that is not', async () => {
    const name = newName()
    await page.evaluate(async (of) => {
      const journal = rig.indexedDbJournal({ name: of })
      const begin = async (key: string, isOver: boolean): Promise<void> => {
        const session = await journal.open(key)
        await session.append([{ type: 'session.creating', at: 1 }])
        if (isOver) await session.append([{ type: 'session.settled', at: 2, status: 'confirmed' }])
        await session.close()
      }
      await begin('open', false)
      for (let index = 0; index < 103; index += 1) await begin(`over ${String(index)}`, true)
      await begin('last', false)
    }, name)
    const keys = () => journalInPage(page, name).list()

    // Nobody waits for what is forgotten: it needs a lease.
    await expect.poll(keys).toHaveLength(102)
    const kept = await keys()
    expect([kept[0], kept[1], kept.at(-1)]).toEqual(['open', 'over 3', 'last'])
  })
})

/** A file of so many bytes, a part each; all but the last came, over and over until there are so many records of it. */
function longHistory(partCount: number, count: number): JournalRecord[] {
  const file = { fileIndex: 0, name: 'a', sizeBytes: partCount, partCount, partSizeBytes: 1 }
  const about = { version: 1, key: 'k', flow: 'video', params: {}, files: [file], locations: ['a'] } as const
  const received = Array.from({ length: count }, (_, index): JournalRecord => {
    const partNumber = (index % (partCount - 1)) + 1
    const receipt = { acceptedEnd: partNumber, isVerified: false }
    return { type: 'part.received', at: 2, fileIndex: 0, partNumber, receipt }
  })
  return [{ type: 'session.begun', at: 1, ...about }, ...received]
}
