// What a page says in attributes, read into the input of a flow. Credentials are no attribute and never will be: markup
// is kept, logged and copied.

import type { CapturesInput } from '../flows/captures.ts'
import type { VideosInput } from '../flows/videos.ts'

/** Everything of an upload but its files. What is given by property wins over attributes. */
export type UploaderInput = Partial<Omit<VideosInput, 'files'>> & Partial<Omit<CapturesInput, 'files'>>

export type UploaderFlow = 'video' | 'capture'

type Kind = 'text' | 'number' | 'boolean'

const FIELDS: readonly (readonly [attribute: string, field: string, kind: Kind])[] = [
  ['movement-type', 'movementTypeId', 'number'],
  ['player', 'playerId', 'text'],
  ['date', 'sessionDate', 'text'],
  ['session-type', 'sessionTypeId', 'number'],
  ['frame-rate', 'frameRate', 'number'],
  ['org', 'orgId', 'text'],
  ['mocap-type', 'mocapTypeId', 'number'],
  ['session', 'sessionId', 'text'],
  ['kind', 'kind', 'text'],
  ['rename', 'rename', 'boolean'],
  ['reprocess', 'reprocess', 'boolean'],
]

/** The attributes whose change is drawn at once; the others are read when they are needed. */
export const DRAWN_ATTRIBUTES = ['flow', 'accept', 'kind', 'lang', 'base-url'] as const

export function flowOf(element: Element): UploaderFlow {
  return element.getAttribute('flow') === 'capture' ? 'capture' : 'video'
}

/** Absent attributes are absent fields; a number that is none stays one, NaN, and the flow says so by name. */
export function inputOf(element: Element, given: UploaderInput): UploaderInput {
  const found = FIELDS.flatMap(([attribute, field, kind]) => {
    const text = element.getAttribute(attribute)
    if (text === null || (text === '' && kind !== 'boolean')) return []
    return [[field, kind === 'number' ? Number(text) : kind === 'boolean' ? isOn(text) : text] as const]
  })
  return { ...(Object.fromEntries(found) as UploaderInput), ...given }
}

/** Of an attribute that is present or absent; frameworks write `false` where a page would leave it out. */
export function isOn(text: string | null): boolean {
  return text !== null && text !== 'false'
}

/** The kinds that `accept` names. */
export function kindsIn(accept: string): string[] {
  return accept.split(',').map((kind) => kind.trim())
}

/** `accept`, else what the flow takes: phone clips, or, for captures, what their kind says. */
export function acceptOf(element: Element, flow: UploaderFlow, input: UploaderInput): string {
  const own = element.getAttribute('accept')
  if (own !== null) return own
  return flow === 'video' || input.kind === 'video' ? '.mp4,.mov' : ''
}
