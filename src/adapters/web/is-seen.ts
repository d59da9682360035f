// Whether somebody sees this page. In a hidden one, timers are held back for up to a minute.

/** False where there is no page. */
export function isSeen(): boolean {
  return (globalThis as { document?: { visibilityState?: string } }).document?.visibilityState === 'visible'
}
