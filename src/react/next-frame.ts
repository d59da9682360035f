// Waits for the next frame. A hidden page gets no frames, so a timer stands in for them: its title may still show progress.

const HIDDEN_MS = 250

/** Calls `draw` once: in the next frame, or after 250 ms if there is none by then. Where there are no frames at all, after 16 ms. */
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
