// The fields of the wire as schemas, for whole bodies: what the service reads, and what tests hold against the fixtures. The
// client itself reads replies with the guards of fields, so that no page loads the schemas' library.

import * as v from 'valibot'
import { isCalendarDate, isFileName, isIdText, isWireObject, type WireObject } from './fields.ts'

/** A count, a size or an id: an integer of 0 or more that a JSON number carries exactly. */
export const wireCount = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** A position or a number of parts: an integer of 1 or more. */
export const wireOrdinal = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
/** A number of frames in a second, above 0. */
export const wireFrameRate = v.pipe(v.number(), v.finite(), v.gtValue(0))
export const wireText = v.pipe(v.string(), v.nonEmpty())
export const wireDate = v.pipe(v.string(), v.isoDate(), v.check(isCalendarDate, 'not a day of the calendar'))
export const wireFileName = v.pipe(v.string(), v.check(isFileName, 'not a plain file name'))
export const wireId = v.union([v.pipe(v.string(), v.check(isIdText, 'not an id')), wireCount])
export const wireDomHand = v.picklist(['RHA', 'LHA'])

/** A segment's id as the service answers it: an integer, or digits in a string. Sent as an integer. */
export const wireSegmentId = v.union([wireCount, v.pipe(v.string(), v.regex(/^\d{1,15}$/))])

/** Any JSON object, for bodies that the interface does not show. */
export const wireAnyObject = v.custom<WireObject>(isWireObject, 'not an object')
