// The little XML that S3-compatible stores speak: one request body is written, and four replies are read. Reading takes
// linear time, finds elements by name, and accepts no document in which text could pass for an element.

/** Writes the body of a completion. ETags are `quoted` and escaped here; the order of the parts is the caller's. */
export function completeRequestXml(parts: readonly { readonly partNumber: number; readonly etag: string }[]): string {
  const entries = parts.map(
    ({ partNumber, etag }) => `<Part><PartNumber>${partNumber}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  )
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${entries.join('')}</CompleteMultipartUpload>`
}

/**
 * The inside of a document whose root has this name. Undefined for another root, for an incomplete document, and for
 * one with a CDATA section, a comment or a DOCTYPE: no store writes those, and each could carry a tag that is none.
 */
export function xmlRoot(text: string, name: string): string | undefined {
  const whole = text.trim()
  if (whole.includes('<!')) return undefined
  const [start, root] = /^(?:<\?xml[^<>]{0,200}\?>\s*)?<([A-Za-z]{1,64})(?:\s[^<>]{0,500})?>/.exec(whole) ?? ['', '']
  const end = `</${name}>`
  if (root !== name || !whole.endsWith(end)) return undefined
  return whole.slice(start.length, -end.length)
}

/** The text of the first element of this name, unescaped and trimmed; undefined if there is none. */
export function xmlField(inside: string, name: string): string | undefined {
  const open = `<${name}>`
  const from = inside.indexOf(open)
  if (from === -1) return undefined
  const to = inside.indexOf(`</${name}>`, from + open.length)
  const text = to === -1 ? '<' : inside.slice(from + open.length, to)
  return text.includes('<') ? undefined : unescapeXml(text).trim()
}

/** The insides of all elements of this name, in order. They may not contain elements of the same name. */
export function xmlEntries(inside: string, name: string): string[] {
  const [, ...pieces] = inside.split(`<${name}>`)
  return pieces.map((piece) => piece.slice(0, Math.max(0, piece.indexOf(`</${name}>`))))
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"'\p{Cc}]/gu, (character) => ENTITIES[character] ?? `&#${String(character.codePointAt(0))};`)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}
const CHARACTERS = /* @__PURE__ */ charactersByEntity()

function charactersByEntity(): ReadonlyMap<string, string> {
  return new Map(Object.entries(ENTITIES).map(([character, entity]) => [entity, character]))
}

/**
 * Resolves each reference once, so that `&amp;lt;` becomes `&lt;` and never `<`. Unknown references stay as they are.
 */
function unescapeXml(text: string): string {
  return text.replace(/&(?:[a-z]{2,4}|#\d{1,7}|#x[0-9a-fA-F]{1,6});/g, (reference) => {
    if (!reference.startsWith('&#')) return CHARACTERS.get(reference) ?? reference
    const digits = reference.slice(2, -1)
    const code = digits.startsWith('x') ? Number.parseInt(digits.slice(1), 16) : Number(digits)
    return code > 0x10ffff ? reference : String.fromCodePoint(code)
  })
}
