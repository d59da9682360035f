// The fields of the wire as schemas, for whole bodies: what the service reads, and what tests compare with the
// fixtures. The client reads replies with the guards of fields.ts, so that no page loads the schema library.

import * as v from 'valibot'
import { isCalendarDate, isFileName, isIdText, isWireObject, type WireObject } from './fields.ts'

/** A count, a size or an id: an integer of 0 or more that a JSON number carries exactly. */
export const wireCount = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** A position or a number of parts: an integer of 1 or more. */
export const wireOrdinal = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
/** Frames a second, above 0. */
export const wireFrameRate = v.pipe(v.number(), v.finite(), v.gtValue(0))
export const wireText = v.pipe(v.string(), v.nonEmpty())
export const wireDate = v.pipe(v.string(), v.isoDate(), v.check(isCalendarDate, 'not a day of the calendar'))
export const wireFileName = v.pipe(v.string(), v.check(isFileName, 'not a plain file name'))
export const wireId = v.union([v.pipe(v.string(), v.check(isIdText, 'not an id')), wireCount])
export const wireDomHand = v.picklist(['RHA', 'LHA'])

/** A segment's id as the service answers it: an integer, or its digits in a string. It is sent as an integer. */
export const wireSegmentId = v.union([wireCount, v.pipe(v.string(), v.regex(/^\d{1,15}$/))])

/** Any JSON object, for bodies that the interface does not show. */
export const wireAnyObject = v.custom<WireObject>(isWireObject, 'not an object')
