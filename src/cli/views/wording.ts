// Times, rates and counts as a person reads them.

import { formatBytes } from '../../core/plan.ts'

/** `0:42`, `12:05`, `3:04:05`, `2 d 03:04:05`. */
export function formatTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const two = (value: number) => String(value).padStart(2, '0')
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60),
  ]
  const tail = `${two(minutes % 60)}:${two(seconds % 60)}`
  if (days > 0) return `${days} d ${two(hours)}:${tail}`
  return hours > 0 ? `${hours}:${tail}` : `${minutes}:${two(seconds % 60)}`
}

/** `850 ms`, `12.3 s`, then as `formatTime`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : formatTime(ms)
}

/** `20 MiB/s`. */
export function formatRate(bytesPerSecond: number): string {
  return `${formatBytes(Math.round(bytesPerSecond))}/s`
}

/** `1 file`, `12 files`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function staysConfirmed(files: number): string {
  return `${countOf(files, 'file')} ${files === 1 ? 'stays' : 'stay'} confirmed`
}

/** Whole percent, rounded down, so that 100 means all of it. */
export function percentOf(done: number, total: number): number {
  return total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))
}
