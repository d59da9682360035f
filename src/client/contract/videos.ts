// Video uploads on the wire: a session with one address per part (the wire says chunk), one confirmation per file.

import { isAddress } from './captures.ts'
import {
  isCount,
  isId,
  isOrdinal,
  isText,
  isWireObject,
  keepUnknown,
  ownField,
  shownField,
  wireBody,
} from './fields.ts'
import type { ServiceId, WireObject } from './fields.ts'
import type { VideoConfirmWireRequest, VideoUploadWireRequest } from './video-schemas.ts'

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
  const uploadSessionId = shownField(raw, 'upload_session_id', isId)
  const sessionFiles = eachFromWire(ownField(raw, 'pre_signed_urls'), videoUploadFileFromWire)
  if (uploadSessionId === undefined || sessionFiles === undefined) return undefined
  return keepUnknown(raw, [
    ['uploadSessionId', 'upload_session_id', uploadSessionId],
    ['sessionFiles', 'pre_signed_urls', sessionFiles],
  ]) as VideoUpload
}

function videoUploadFileFromWire(entry: WireObject): VideoUploadFile | undefined {
  const sessionFileId = shownField(entry, 'session_file_id', isId)
  const partAddresses = eachFromWire(ownField(entry, 'info'), videoUploadPartFromWire)
  if (sessionFileId === undefined || partAddresses === undefined) return undefined
  return keepUnknown(entry, [
    ['sessionFileId', 'session_file_id', sessionFileId],
    ['partAddresses', 'info', partAddresses],
    ['fileId', 'file_id', shownField(entry, 'file_id', isCount)],
    ['fileName', 'raw_file_name', shownField(entry, 'raw_file_name', isText)],
  ]) as VideoUploadFile
}

function videoUploadPartFromWire(part: WireObject): VideoUploadPart | undefined {
  const address = shownField(part, 'url', isText)
  if (address === undefined || !isAddress(address)) return undefined
  return keepUnknown(part, [
    ['address', 'url', address],
    ['partNumber', 'part_number', shownField(part, 'part_number', isOrdinal)],
  ]) as VideoUploadPart
}

/** A list of which every entry is well-formed; undefined otherwise. Stops at the first that is not. */
function eachFromWire<TEntry>(list: unknown, read: (entry: WireObject) => TEntry | undefined): TEntry[] | undefined {
  if (!Array.isArray(list)) return undefined
  const entries: TEntry[] = []
  for (const raw of list as unknown[]) {
    const entry = isWireObject(raw) ? read(raw) : undefined
    if (entry === undefined) return undefined
    entries.push(entry)
  }
  return entries
}

export function confirmFileToWire(input: ConfirmFileInput): WireObject {
  return {
    upload_session_id: input.uploadSessionId,
    affected_file_id: input.sessionFileId,
    file_part_info: input.parts.map(({ partNumber, etag }) => ({ etag, part_number: partNumber })),
    upload_successful: input.isSuccessful ?? true,
  } satisfies VideoConfirmWireRequest
}
