// What each operation needs before it is called, field by field.

import { invalid } from '../core/errors.ts'
import type {
  AnalysisInput,
  ConfirmFileInput,
  MocapSessionInput,
  RegisterFilesInput,
  SegmentInput,
  VideoFileInput,
  VideoUploadInput,
} from './contract.ts'
import { isWireObject } from './contract/fields.ts'
import {
  checkBoolean,
  checkDate,
  checkDomHand,
  checkFileName,
  checkFrameRate,
  checkId,
  checkInteger,
  checkList,
  checkRequired,
  checkSegmentId,
  checkText,
  checkUnique,
  show,
} from './checks.ts'

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for a value that will not do. */
type Check = (value: unknown, label: string) => void

export function checkMocapSession(input: MocapSessionInput): void {
  checkFields(input, {
    orgId: checkText,
    mocapTypeId: checkInteger,
    sessionDate: checkDate,
    sessionTypeId: checkInteger,
    extra: checkExtra,
  })
}

export function checkRegister(input: RegisterFilesInput): void {
  checkFields(input, {
    sessionId: checkId,
    filenames: listOf(checkFileName),
    frameRate: optional(checkFrameRate),
    reprocess: optional(checkBoolean),
    extra: checkExtra,
  })
  checkUnique(input.filenames, 'filenames')
}

export function checkVideoUpload(input: VideoUploadInput): void {
  checkFields(input, {
    files: listOf(checkVideoFile),
    movementTypeId: checkInteger,
    playerId: checkText,
    sessionDate: checkDate,
    sessionTypeId: checkInteger,
    extra: checkExtra,
  })
  const fileIds = input.files.map((file) => file.fileId).filter((fileId) => fileId !== undefined)
  checkUnique(fileIds, 'files[].fileId')
}

function checkVideoFile(file: unknown, label: string): void {
  checkFields(
    checkRequired(file, label) as VideoFileInput,
    {
      name: checkFileName,
      sizeBytes: checkInteger,
      partCount: checkOrdinal,
      fileId: optional(checkInteger),
      frameRate: optional(checkFrameRate),
    },
    `${label}.`,
  )
}

export function checkConfirm(input: ConfirmFileInput): void {
  // A file that was given up has no receipts.
  const least = input.isSuccessful === false ? 0 : 1
  checkFields(input, {
    uploadSessionId: checkId,
    sessionFileId: checkId,
    isSuccessful: optional(checkBoolean),
    parts: listOf(checkPart, least),
  })
  const numbers = input.parts.map((part) => part.partNumber)
  checkUnique(numbers, 'parts[].partNumber')
}

function checkPart(part: unknown, label: string): void {
  const known = checkRequired(part, label) as ConfirmFileInput['parts'][number]
  checkFields(known, { partNumber: checkOrdinal, etag: checkText }, `${label}.`)
}

export function checkSegment(input: SegmentInput): void {
  checkFields(input, {
    movementTypeId: checkInteger,
    domHand: checkDomHand,
    orgMovementIds: optional(listOf(checkText, 0)),
    extra: checkExtra,
  })
}

export function checkAnalysis(input: AnalysisInput): void {
  checkFields(input, {
    name: checkText,
    primaryAnalysisSegmentId: checkSegmentId,
    comparisonAnalysisSegmentId: optional(checkSegmentId),
    populationAnalysisSegmentId: optional(checkSegmentId),
    status: optional(checkNewStatus),
    extra: checkExtra,
  })
}

/** Checks every field that the type of the input has, in the order named. */
function checkFields<TInput extends object>(
  input: TInput,
  checks: { readonly [TName in keyof TInput]-?: Check },
  place = '',
): void {
  for (const [name, check] of Object.entries<Check>(checks)) check(input[name as keyof TInput], place + name)
}

function optional(check: Check): Check {
  return (value, label) => {
    if (value !== undefined) check(value, label)
  }
}

function listOf(check: Check, least = 1): Check {
  return (value, label) => checkList(value, label, least).forEach((entry, index) => check(entry, `${label}[${index}]`))
}

function checkOrdinal(value: unknown, label: string): void {
  checkInteger(value, label, 1)
}

function checkNewStatus(status: unknown, label: string): void {
  if (status !== 'draft' && status !== 'requested')
    invalid(`${label} is ${show(status)}: give draft or requested.`, { field: label })
}

function checkExtra(extra: unknown, label: string): void {
  if (extra !== undefined && !isWireObject(extra))
    invalid(`${label} is no object: give further fields under their wire names.`, { field: label })
}
