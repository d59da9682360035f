// Reads the attributes that a page sets into the input of a flow. Credentials are not an attribute and never will be: markup
// is stored, logged and copied.

import { given } from '../core/given.ts'
import type { CapturesInput } from '../flows/captures.ts'
import type { VideosInput } from '../flows/videos.ts'

type Fields = Partial<Omit<VideosInput, 'files'>> & Partial<Omit<CapturesInput, 'files'>>

/** Everything about an upload except its files. Values set as a property override attributes. */
export type UploaderInput = { readonly [Name in keyof Fields]: Fields[Name] | undefined }

export type UploaderFlow = 'video' | 'capture'

const FIELDS: readonly (readonly [attribute: string, field: string, read?: (text: string) => unknown])[] = [
  ['movement-type', 'movementTypeId', Number],
  ['player', 'playerId'],
  ['date', 'sessionDate'],
  ['session-type', 'sessionTypeId', Number],
  ['frame-rate', 'frameRate', Number],
  ['org', 'orgId'],
  ['mocap-type', 'mocapTypeId', Number],
  ['session', 'sessionId'],
  ['kind', 'kind'],
  ['rename', 'rename', isOn],
  ['reprocess', 'reprocess', isOn],
]

/** The attributes whose change redraws the element. The others are read when they are needed. */
export const DRAWN_ATTRIBUTES = ['flow', 'accept', 'kind', 'lang', 'base-url'] as const

export function flowOf(element: Element): UploaderFlow {
  return element.getAttribute('flow') === 'capture' ? 'capture' : 'video'
}

/** An absent attribute is an absent field. Text that is not a number becomes NaN, which the flow refuses by the name of the field. */
export function inputOf(element: Element, input: UploaderInput): UploaderInput {
  const found = FIELDS.flatMap(([attribute, field, read = String]) => {
    const text = element.getAttribute(attribute)
    return text === null || (text === '' && read !== isOn) ? [] : [[field, read(text)] as const]
  })
  // What a page does not know, it may give as undefined.
  return { ...(Object.fromEntries(found) as UploaderInput), ...given(input) }
}

/** A boolean attribute is on when it is present. Frameworks write `false` where a page would leave it out. */
export function isOn(text: string | null): boolean {
  return text !== null && text !== 'false'
}

/** The kinds that `accept` names. None if every kind is taken, for which pages also write the type of all types. */
export function kindsIn(accept: string): string[] {
  const kinds = accept.split(',').map((kind) => kind.trim())
  // A comma at the end names nothing.
  return kinds.includes('*/*') ? [] : kinds.filter((kind) => kind)
}

/** What those kinds are called: `.mov`, `video/*` and `video/mp4` are MOV, VIDEO and MP4. Pages often name one by its ending and its type. */
export function kindNames(accept: string): string[] {
  return [...new Set(kindsIn(accept).map((kind) => kind.replace(/^\.|\/\*$|^.+\/(?=\w)/, '').toUpperCase()))]
}

/** The `accept` attribute. Without it: phone clips for the flow `video` and captures of kind `video`, everything for other captures. */
export function acceptOf(element: Element, flow: UploaderFlow, input: UploaderInput): string {
  const own = element.getAttribute('accept')
  if (own !== null) return own
  return flow === 'video' || input.kind === 'video' ? '.mp4,.mov' : ''
}
