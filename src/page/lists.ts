// Draws what the service holds as three tables, each with the newest first, and only where something has changed.

import { onOneLine } from '../core/redact.ts'
import { createFormats } from '../element/formats.ts'
import type { Holdings } from './holdings.ts'

/** Rows drawn of each table. The count beside the title says how many there are. */
const MOST_ROWS = 200

export interface Lists {
  draw(holdings: Holdings): void
}

export function createLists(): Lists {
  const formats = createFormats(document.documentElement.lang)
  const drawn = new Map<string, string>()
  const fill = <Row>(id: string, has: Has<Row>): void => {
    const { rows, hasOlder, cells } = has
    const count = formats.count(rows.length).text
    const cut = rows.length > MOST_ROWS ? `, the newest ${MOST_ROWS} shown` : ''
    const newest = {
      count: `${count}${hasOlder ? ' and older ones' : ''}${cut}`,
      rows: rows.slice(0, MOST_ROWS).map(cells),
    }
    const now = JSON.stringify(newest)
    if (drawn.get(id) === now) return
    drawn.set(id, now)
    byId(`${id}-count`).textContent = newest.count
    byId(id).replaceChildren(...newest.rows.map(tableRow))
  }
  return {
    draw({ files, sessions, analyses, hasOlderFiles, hasOlderAnalyses }) {
      fill('sessions', {
        rows: sessions,
        hasOlder: hasOlderFiles,
        cells: (session) => [
          session.sessionId,
          session.kind,
          formats.count(session.files).text,
          formats.bytes(session.bytes),
        ],
      })
      fill('files', {
        rows: files,
        hasOlder: hasOlderFiles,
        cells: (file) => [file.name, file.kind, formats.bytes(file.bytes)],
      })
      fill('analyses', {
        rows: analyses,
        hasOlder: hasOlderAnalyses,
        cells: (analysis) => [analysis.name ?? '', analysis.status ?? ''],
      })
    },
  }
}

interface Has<Row> {
  /** The newest first. */
  readonly rows: readonly Row[]
  /** True if there are more than these. */
  readonly hasOlder: boolean
  readonly cells: (row: Row) => readonly string[]
}

function tableRow(texts: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr')
  for (const text of texts) {
    const cell = row.insertCell()
    // A mark that turns text around could make `gpj.exe` look like another name.
    const shown = onOneLine(text)
    // A name keeps its own direction, as in the element.
    cell.appendChild(document.createElement('bdi')).textContent = shown
    // A narrow page cuts the first cell short; its title shows the whole text.
    cell.title = shown
    if (cell.cellIndex > 1) cell.className = 'number'
  }
  return row
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`The page has no #${id}.`)
  return element
}
