// When a page is drawn next. A hidden page gets no frames; it is told a little later all the same, for its title.

const HIDDEN_MS = 250

/** Calls `draw` once. */
export function onNextFrame(draw: () => void): void {
  if (typeof requestAnimationFrame === 'undefined') {
    setTimeout(draw, 16)
    return
  }
  const late = setTimeout(() => {
    cancelAnimationFrame(frame)
    draw()
  }, HIDDEN_MS)
  const frame = requestAnimationFrame(() => {
    clearTimeout(late)
    draw()
  })
}
