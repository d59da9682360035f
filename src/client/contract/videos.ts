// Video uploads on the wire: a session with one address per part (the wire says chunk), and one confirmation per file.

import { isAddress } from './captures.ts'
import { fromWire, isWireObject, readCount, readId, readOrdinal, readText } from './fields.ts'
import type { Needs, Reads, ServiceId, WireObject } from './fields.ts'

export interface VideoFileInput {
  /** Base name, without any path. */
  readonly name: string
  readonly sizeBytes: number
  /** 1 or more. It cannot change later. */
  readonly partCount: number
  /** The host's own number for the file, unique in the session. Default: none is sent. */
  readonly fileId?: number | undefined
  /** Frames a second. */
  readonly frameRate?: number | undefined
}

export interface VideoUploadInput {
  readonly files: readonly VideoFileInput[]
  readonly movementTypeId: number
  readonly playerId: string
  /** The day of capture, YYYY-MM-DD. */
  readonly sessionDate: string
  readonly sessionTypeId: number
  /** Fields of the service that its interface does not show, under their wire names. Default: none. */
  readonly extra?: WireObject | undefined
}

/** The session as created. Its addresses are secrets. Fields that we do not know are kept under their wire names. */
export interface VideoUpload {
  readonly uploadSessionId: ServiceId
  /** In the service's order. The protocol matches them to the files that were sent. */
  readonly sessionFiles: readonly VideoUploadFile[]
  /** Present if an earlier try had no clear answer, so that the service may hold a session nobody will use. */
  readonly hasPossibleOrphan?: true
  readonly [wireName: string]: unknown
}

export interface VideoUploadFile {
  readonly sessionFileId: ServiceId
  readonly partAddresses: readonly VideoUploadPart[]
  /** The number sent in the request, if the service echoes it. An assumption: the interface does not show the echo. */
  readonly fileId?: number
  /** The name sent in the request, if the service echoes it. An assumption: the interface does not show the echo. */
  readonly fileName?: string
  readonly [wireName: string]: unknown
}

export interface VideoUploadPart {
  /** A secret. */
  readonly address: string
  /** 1-based, if the service gives it. An assumption: the interface does not show it. */
  readonly partNumber?: number
  readonly [wireName: string]: unknown
}

export interface ConfirmFileInput {
  readonly uploadSessionId: ServiceId
  readonly sessionFileId: ServiceId
  /** Part numbers from 1, each once. ETags in the form in which the protocol wants them sent. */
  readonly parts: readonly { readonly partNumber: number; readonly etag: string }[]
  /** False tells the service that the file was given up. Default true. */
  readonly isSuccessful?: boolean | undefined
}

/** Returns undefined if the reply lacks the session's id or a well-formed list of addresses. */
export function videoUploadFromWire(raw: WireObject): VideoUpload | undefined {
  const parts = readEach({ url: readAddress, part_number: readOrdinal }, { needed: ['url'], names: { url: 'address' } })
  const files = readEach(
    { session_file_id: readId, info: parts, file_id: readCount, raw_file_name: readText },
    { needed: ['session_file_id', 'info'], names: { info: 'partAddresses', raw_file_name: 'fileName' } },
  )
  const reads = { upload_session_id: readId, pre_signed_urls: files }
  const names = { pre_signed_urls: 'sessionFiles' }
  return fromWire(raw, reads, { needed: Object.keys(reads), names }) as VideoUpload | undefined
}

function readAddress(value: unknown): string | undefined {
  const text = readText(value)
  return text !== undefined && isAddress(text) ? text : undefined
}

/** Reads a list whose every entry is well-formed. Stops at the first that is not, and returns undefined. */
function readEach(...how: [reads: Reads, how: Needs]) {
  return (list: unknown): WireObject[] | undefined => {
    if (!Array.isArray(list)) return undefined
    const entries: WireObject[] = []
    for (const raw of list as unknown[]) {
      const entry = isWireObject(raw) ? fromWire(raw, ...how) : undefined
      if (entry === undefined) return undefined
      entries.push(entry)
    }
    return entries
  }
}
