// Whether somebody sees this page: in one that is hidden, timers are held back for up to a minute.

/** False also where there is no page. */
export function isSeen(): boolean {
  return (globalThis as { document?: { visibilityState?: string } }).document?.visibilityState === 'visible'
}
