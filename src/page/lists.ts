// Draws what the service holds as three tables, each with the last registered first, and only when something has changed.

import { createFormats } from '../element/formats.ts'
import type { Holdings } from './holdings.ts'

/** Rows drawn of each table. The count beside the title says how many there are. */
const MOST_ROWS = 200

export interface Lists {
  draw(holdings: Holdings): void
}

export function createLists(): Lists {
  const formats = createFormats(document.documentElement.lang)
  let drawn = ''
  return {
    draw(holdings) {
      const now = JSON.stringify(holdings)
      if (now === drawn) return
      drawn = now
      const { files, sessions, analyses, isCut } = holdings
      const kindOf = (kind: string): string => (kind === 'video' ? 'video' : 'capture')
      fill('sessions', isCut, sessions, (session) => [
        session.sessionId,
        kindOf(session.kind),
        String(session.files),
        formats.bytes(session.bytes),
      ])
      fill('files', isCut, files, (file) => [file.name, kindOf(file.kind), formats.bytes(file.bytes)])
      fill('analyses', false, analyses, (analysis) => [analysis.name ?? '', analysis.status ?? ''])
    },
  }
}

function fill<Row>(id: string, isCut: boolean, rows: readonly Row[], cells: (row: Row) => readonly string[]): void {
  const newest = rows.slice(-MOST_ROWS).toReversed()
  byId(`${id}-count`).textContent = `${rows.length}${isCut ? ' and more' : ''}`
  byId(id).replaceChildren(...newest.map((row) => tableRow(cells(row))))
}

function tableRow(texts: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr')
  for (const text of texts) {
    const cell = row.insertCell()
    // A name keeps its own direction, as in the element.
    cell.appendChild(document.createElement('bdi')).textContent = text
    // A narrow page cuts the first cell short; its title shows the whole text.
    cell.title = text
    if (cell.cellIndex > 1) cell.className = 'number'
  }
  return row
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`The page has no #${id}.`)
  return element
}
