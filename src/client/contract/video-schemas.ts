// Video uploads on the wire, as schemas: the bodies of create, confirm and cancel.

import * as v from 'valibot'
import { isAddress } from './captures.ts'
import { wireAnyObject, wireCount, wireDate, wireFileName, wireFrameRate, wireId } from './field-schemas.ts'
import { wireOrdinal, wireText } from './field-schemas.ts'

export const videoUploadRequest = v.object({
  files: v.pipe(
    v.array(
      v.object({
        raw_file_name: wireFileName,
        file_size_bytes: wireCount,
        number_of_chunks: wireOrdinal,
        file_id: v.optional(wireCount),
        frame_rate: v.optional(wireFrameRate),
      }),
    ),
    v.nonEmpty(),
  ),
  movement_type_id: wireCount,
  player_id: wireText,
  session_date: wireDate,
  session_type_id: wireCount,
})

const addressEntry = v.looseObject({ url: v.pipe(v.string(), v.check(isAddress, 'not an address')) })
const fileEntry = v.looseObject({ session_file_id: wireId, info: v.array(addressEntry) })
export const videoUploadReply = v.looseObject({ upload_session_id: wireId, pre_signed_urls: v.array(fileEntry) })

export const videoConfirmRequest = v.object({
  upload_session_id: wireId,
  affected_file_id: wireId,
  file_part_info: v.array(v.object({ etag: wireText, part_number: wireOrdinal })),
  upload_successful: v.boolean(),
})

/** Bodies that the interface does not show: empty, or any object. */
export const videoConfirmReply = v.optional(wireAnyObject)
export const videoCancelReply = v.optional(wireAnyObject)
