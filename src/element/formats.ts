// How sizes, rates, durations and counts are written in a language. Intl knows the units and their plurals.

/** A number together with its written form. */
export interface Amount {
  readonly value: number
  readonly text: string
}

export interface Formats {
  count(value: number): Amount
  /** A kilobyte is 1000 bytes, as phones and file managers count. */
  bytes(value: number): string
  rate(bytesPerSecond: number): string
  /** To the nearest minute, and to the nearest 5 s below one. Never less than 5 s, and never more for a shorter time. */
  duration(ms: number): string
  /** Takes a share between 0 and 1, and rounds it down. */
  percent(share: number): string
  date(ms: number): string
  /** The time of day, with seconds. */
  time(ms: number): string
  list(items: readonly string[]): string
}

/** The prefixes of units of bytes. Each unit is a thousand times the one before. */
const PREFIXES = ['', 'kilo', 'mega', 'giga', 'tera']

/** `language` is a BCP 47 tag. If it is undefined or Intl refuses it, the browser's own language is used. */
export function createFormats(language: string | undefined): Formats {
  const locale = localeOf(language)
  const made = new Map<string, Intl.NumberFormat>()
  const write = (value: number, options: Intl.NumberFormatOptions): string => {
    const name = JSON.stringify(options)
    const format = made.get(name) ?? new Intl.NumberFormat(locale, options)
    made.set(name, format)
    return isolate(format.format(value))
  }
  const scaled = (value: number, suffix: string): string => {
    // From 999.5 of a unit on, rounding would write 1,000 of it. That is 1 of the next unit.
    const step = Math.min(PREFIXES.length - 1, Math.floor(Math.log10(Math.max(1, value / 0.9995)) / 3))
    const shown = value / 1000 ** step
    const maximumFractionDigits = shown < 10 ? 1 : 0
    // The short form of bytes has no plural.
    const unitDisplay = step > 0 ? 'short' : 'long'
    return write(shown, {
      style: 'unit',
      unit: `${PREFIXES[step] ?? ''}byte${suffix}`,
      unitDisplay,
      maximumFractionDigits,
    })
  }
  const inUnit = (value: number, unit: string): string => write(value, { style: 'unit', unit, unitDisplay: 'short' })
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const lists = new Intl.ListFormat(locale, { type: 'disjunction' })
  return {
    count: (value) => ({ value, text: write(value, {}) }),
    bytes: (value) => scaled(value, ''),
    rate: (bytesPerSecond) => scaled(bytesPerSecond, '-per-second'),
    duration(ms) {
      const seconds = Math.max(5, Math.round(ms / 5_000) * 5)
      if (seconds < 60) return inUnit(seconds, 'second')
      const minutes = Math.round(ms / 60_000)
      if (minutes < 60) return inUnit(minutes, 'minute')
      const hours = Math.floor(minutes / 60)
      const rest = minutes % 60
      return rest === 0 ? inUnit(hours, 'hour') : `${inUnit(hours, 'hour')} ${inUnit(rest, 'minute')}`
    },
    percent: (share) => write(Math.floor(share * 100) / 100, { style: 'percent' }),
    date: (ms) => isolate(dates.format(ms)),
    time: (ms) => isolate(new Date(ms).toLocaleTimeString(locale)),
    list: (items) => lists.format(items),
  }
}

/** Isolates text of a right-to-left language from its neighbours, which it would otherwise draw into its own order. */
function isolate(text: string): string {
  return /[\u0590-\u08ff\u200e\u200f]/.test(text) ? isolated(text) : text
}

/** Isolates what is not in the language of the texts, such as a file's name, so that it and the words around it keep their directions. */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`
}

function localeOf(language: string | undefined): string | undefined {
  try {
    return Intl.getCanonicalLocales(language)[0]
  } catch {
    return undefined
  }
}
