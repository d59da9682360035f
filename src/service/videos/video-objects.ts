// Turns the record of a video file into what storage needs to know about it.

import type { Selectable } from 'kysely'

import type { Tables } from '../database/tables.ts'
import type { VideoObject } from '../objects/object-storage.ts'

export function videoObject(file: Selectable<Tables['video_files']>): VideoObject {
  return {
    key: { flow: 'videos', sessionId: file.session_id, fileId: file.id },
    sizeBytes: file.file_size_bytes,
    partCount: file.number_of_chunks,
    uploadId: file.upload_id,
  }
}
