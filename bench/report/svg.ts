// The little SVG that our plots need: elements, escaped text, and colours that are readable on light and dark pages.

export type Attributes = Readonly<Record<string, string | number>>

/** Escapes text for use between tags and in attributes. Control characters that XML does not allow are dropped. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** An element. `children` are markup that is already safe. Coordinates keep one decimal. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(attribute(value))}"`)
  return children.length === 0
    ? `<${name}${pairs.join('')}/>`
    : `<${name}${pairs.join('')}>${children.join('')}</${name}>`
}

/** A line of text. `anchor` says which end is at x. */
export function label(
  text: string,
  x: number,
  y: number,
  { anchor = 'start', kind = 'text' }: { anchor?: 'start' | 'middle' | 'end'; kind?: string } = {},
): string {
  return element('text', { x, y, 'text-anchor': anchor, class: kind }, escapeXml(text))
}

/** The most small letters that fit between the margins of a plot. */
const FOOT_LETTERS = 120
export const FOOT_STEP = 15

/** The text below a plot, broken after commas if it is too long for one line. `y` is that of the first line. */
export function footLines(text: string, y: number): string[] {
  const lines: string[] = []
  for (const piece of text.split(/(?<=, )/)) {
    const last = lines.at(-1)
    if (last === undefined || (last + piece).trimEnd().length > FOOT_LETTERS) lines.push(piece)
    else lines[lines.length - 1] = last + piece
  }
  return lines.map((line, index) => label(line.trimEnd(), 20, y + index * FOOT_STEP, { kind: 'small' }))
}

/** Classes of the series, in order. The first is ours. */
export const SERIES_KINDS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'] as const

const LIGHT = ['#0b5fd3', '#6b7684', '#b35900', '#7a3fc4', '#0a7d54', '#b3261e']
const DARK = ['#58a6ff', '#98a2ae', '#f0a04b', '#b794f4', '#4cc38a', '#ff8a80']

function colours(series: readonly string[]): string {
  return series
    .map((colour, index) => {
      const kind = SERIES_KINDS[index] ?? ''
      return `.fill-${kind},.name-${kind}{fill:${colour}}.line-${kind}{stroke:${colour}}`
    })
    .join('')
}

const STYLE =
  'text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif}' +
  '.title,.panel{font-weight:600}.title{font-size:16px}.small{font-size:11px}' +
  `.page{fill:#fff}.text,.title,.panel{fill:#1d232b}.small,.axis{fill:#56606c}.grid{stroke:#e3e7ec}.whisker{stroke:#1d232b}${colours(LIGHT)}` +
  `@media(prefers-color-scheme:dark){.page{fill:#0f141a}.text,.title,.panel{fill:#e8edf3}.small,.axis{fill:#9ba6b2}.grid{stroke:#2a323c}.whisker{stroke:#e8edf3}${colours(DARK)}}`

/** A whole picture with its own background. `title` is also what a screen reader says. */
export function picture(title: string, width: number, height: number, ...children: readonly string[]): string {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
  }
  return (
    element(
      'svg',
      attributes,
      element('title', {}, escapeXml(title)),
      element('style', {}, STYLE),
      element('rect', { width, height, rx: 8, class: 'page' }),
      ...children,
    ) + '\n'
  )
}

function attribute(value: string | number): string {
  if (typeof value === 'string') return value
  if (!Number.isFinite(value)) throw new Error('A coordinate is not a number.')
  return String(Math.round(value * 10) / 10)
}
