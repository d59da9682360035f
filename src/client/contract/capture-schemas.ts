// Motion capture on the wire, as schemas: the bodies of sessions, and of file names with their addresses.

import * as v from 'valibot'
import { wireCount, wireDate, wireFileName, wireFrameRate, wireId, wireText } from './field-schemas.ts'
import { isWireObject } from './fields.ts'

export const mocapSessionRequest = v.object({
  org_id: wireText,
  mocap_type_id: wireCount,
  session_date: wireDate,
  session_type_id: wireCount,
})

/** `id` and `session_id` hold the same value. One of them must be there. */
export const mocapSessionReply = v.looseObject({
  id: v.optional(wireId),
  session_id: v.optional(wireId),
  org_id: v.optional(v.string()),
  mocap_type_id: v.optional(wireCount),
  session_type_id: v.optional(wireCount),
  session_date: v.optional(v.string()),
  num_movements: v.optional(wireCount),
  num_players: v.optional(wireCount),
  status: v.optional(v.string()),
  created_at: v.optional(v.string()),
  updated_at: v.optional(v.string()),
})

export const mocapSessionFileRequest = v.object({
  session_id: wireId,
  filenames: v.pipe(v.array(wireFileName), v.nonEmpty()),
  video_framerate: v.optional(wireFrameRate),
  reprocess: v.optional(v.boolean(), false),
})

/**
 * File name → address. Not a valibot record: that drops the keys `__proto__`, `constructor` and `prototype`, each of
 * which is a legal file name.
 */
export const mocapSessionFileReply = v.custom<Readonly<Record<string, string>>>(
  (value) => isWireObject(value) && Object.values(value).every((address) => typeof address === 'string'),
  'not an object of addresses by file name',
)
