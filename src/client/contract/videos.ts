// Video uploads on the wire: a session with one address per part (the wire says chunk), one confirmation per file.

import * as v from 'valibot'
import { isAddress } from './captures.ts'
import {
  isWireObject,
  keepUnknown,
  ownField,
  shownField,
  wireAnyObject,
  wireBody,
  wireCount,
  wireDate,
  wireFileName,
  wireFrameRate,
  wireId,
  wireOrdinal,
  wireText,
} from './fields.ts'
import type { ServiceId, WireObject } from './fields.ts'

export const videoUploadRequest = v.looseObject({
  files: v.pipe(
    v.array(
      v.looseObject({
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
export type VideoUploadWireRequest = v.InferOutput<typeof videoUploadRequest>

const addressEntry = v.looseObject({ url: v.pipe(v.string(), v.check(isAddress, 'not an address')) })
const fileEntry = v.looseObject({ session_file_id: wireId, info: v.array(addressEntry) })
export const videoUploadReply = v.looseObject({ upload_session_id: wireId, pre_signed_urls: v.array(fileEntry) })
export type VideoUploadWireReply = v.InferOutput<typeof videoUploadReply>

export const videoConfirmRequest = v.looseObject({
  upload_session_id: wireId,
  affected_file_id: wireId,
  file_part_info: v.array(v.looseObject({ etag: wireText, part_number: wireOrdinal })),
  upload_successful: v.boolean(),
})
export type VideoConfirmWireRequest = v.InferOutput<typeof videoConfirmRequest>

/** Bodies that the interface does not show: empty, or any object. */
export const videoConfirmReply = v.optional(wireAnyObject)
export const videoCancelReply = v.optional(wireAnyObject)

export interface VideoFileInput {
  /** Base name, without any path. */
  readonly name: string
  readonly sizeBytes: number
  /** 1 or more; fixed from here on. */
  readonly partCount: number
  /** The host's own number for the file; each once. Default: none is sent. */
  readonly fileId?: number
  /** Frames a second. */
  readonly frameRate?: number
}

export interface VideoUploadInput {
  readonly files: readonly VideoFileInput[]
  readonly movementTypeId: number
  readonly playerId: string
  /** The day of capture, YYYY-MM-DD. */
  readonly sessionDate: string
  readonly sessionTypeId: number
  /** Fields of the service that its interface does not show, under their wire names. Default: none. */
  readonly extra?: WireObject
}

/** The session as created. The addresses in it are secrets. Fields that we do not know are kept under their wire names. */
export interface VideoUpload {
  readonly uploadSessionId: ServiceId
  /** As answered, in the service's order; matching them to what was asked is the protocol's work. */
  readonly sessionFiles: readonly VideoUploadFile[]
  /** Present when an earlier try had no clear answer, so that the service may hold a session nobody will use. */
  readonly hasPossibleOrphan?: true
  readonly [wireName: string]: unknown
}

export interface VideoUploadFile {
  readonly sessionFileId: ServiceId
  readonly partAddresses: readonly VideoUploadPart[]
  /** The number of the request, where the service echoes it. An assumption: the echo is not shown. */
  readonly fileId?: number
  /** The name of the request, where the service echoes it. An assumption: the echo is not shown. */
  readonly fileName?: string
  readonly [wireName: string]: unknown
}

export interface VideoUploadPart {
  /** A secret. */
  readonly address: string
  /** 1-based, where the service says it. An assumption: it is not shown. */
  readonly partNumber?: number
  readonly [wireName: string]: unknown
}

export interface ConfirmFileInput {
  readonly uploadSessionId: ServiceId
  readonly sessionFileId: ServiceId
  /** ETags as the protocol wants them sent; part numbers from 1, each once. */
  readonly parts: readonly { readonly partNumber: number; readonly etag: string }[]
  /** False tells the service that the file was given up. Default true. */
  readonly isSuccessful?: boolean
}

export function videoUploadToWire(input: VideoUploadInput): WireObject {
  const files = input.files.map((file) => ({
    raw_file_name: file.name,
    file_size_bytes: file.sizeBytes,
    number_of_chunks: file.partCount,
    ...(file.fileId === undefined ? {} : { file_id: file.fileId }),
    ...(file.frameRate === undefined ? {} : { frame_rate: file.frameRate }),
  }))
  return wireBody(
    {
      files,
      movement_type_id: input.movementTypeId,
      player_id: input.playerId,
      session_date: input.sessionDate,
      session_type_id: input.sessionTypeId,
    } satisfies VideoUploadWireRequest,
    input.extra,
  )
}

/** Undefined when the reply lacks the session's id or a well-formed list of addresses. */
export function videoUploadFromWire(raw: WireObject): VideoUpload | undefined {
  const uploadSessionId = shownField(raw, 'upload_session_id', wireId)
  const entries = ownField(raw, 'pre_signed_urls')
  if (uploadSessionId === undefined || !v.is(videoUploadReply.entries.pre_signed_urls, entries)) return undefined
  return keepUnknown(raw, [
    ['uploadSessionId', 'upload_session_id', uploadSessionId],
    ['sessionFiles', 'pre_signed_urls', entries.filter(isWireObject).map(videoUploadFileFromWire)],
  ]) as VideoUpload
}

function videoUploadFileFromWire(entry: WireObject): VideoUploadFile {
  const info = ownField(entry, 'info')
  const parts = (Array.isArray(info) ? info.filter(isWireObject) : []).map((part) =>
    keepUnknown(part, [
      ['address', 'url', ownField(part, 'url')],
      ['partNumber', 'part_number', shownField(part, 'part_number', wireOrdinal)],
    ]),
  )
  return keepUnknown(entry, [
    ['sessionFileId', 'session_file_id', ownField(entry, 'session_file_id')],
    ['partAddresses', 'info', parts],
    ['fileId', 'file_id', shownField(entry, 'file_id', wireCount)],
    ['fileName', 'raw_file_name', shownField(entry, 'raw_file_name', v.string())],
  ]) as VideoUploadFile
}

export function confirmFileToWire(input: ConfirmFileInput): WireObject {
  return {
    upload_session_id: input.uploadSessionId,
    affected_file_id: input.sessionFileId,
    file_part_info: input.parts.map(({ partNumber, etag }) => ({ etag, part_number: partNumber })),
    upload_successful: input.isSuccessful ?? true,
  } satisfies VideoConfirmWireRequest
}
