// What each operation needs before it is called, field by field. Each check returns what is sent, under our names.

import type {
  AnalysisInput,
  ConfirmFileInput,
  MocapSessionInput,
  RegisterFilesInput,
  SegmentInput,
  VideoFileInput,
  VideoUploadInput,
  WireObject,
} from './contract.ts'
import { checkFields, listOf, optional, type Check } from './check-fields.ts'
import {
  checkBoolean,
  checkDate,
  checkDomHand,
  checkFileName,
  checkFrameRate,
  checkId,
  checkInteger,
  checkIs,
  checkObject,
  checkSegmentId,
  checkText,
} from './checks.ts'

export function checkMocapSession(input: MocapSessionInput): WireObject {
  return checkFields(input, {
    orgId: checkText,
    mocapTypeId: checkInteger,
    sessionDate: checkDate,
    sessionTypeId: checkInteger,
    extra: optional(checkObject),
  })
}

export function checkRegister(input: RegisterFilesInput): WireObject {
  return checkFields(input, {
    sessionId: checkId,
    filenames: listOf(checkFileName, { isUnique: true }),
    frameRate: optional(checkFrameRate),
    reprocess: optional(checkBoolean, false),
    extra: optional(checkObject),
  })
}

export function checkVideoUpload(input: VideoUploadInput): WireObject {
  return checkFields(input, {
    files: listOf(checkVideoFile, { uniqueField: 'fileId' }),
    movementTypeId: checkInteger,
    playerId: checkText,
    sessionDate: checkDate,
    sessionTypeId: checkInteger,
    extra: optional(checkObject),
  })
}

const checkVideoFile: Check = (file, label) =>
  checkFields(
    file as VideoFileInput,
    {
      name: checkFileName,
      sizeBytes: checkInteger,
      partCount: checkOrdinal,
      fileId: optional(checkInteger),
      frameRate: optional(checkFrameRate),
    },
    label,
  )

export function checkConfirm(input: ConfirmFileInput): WireObject {
  // A file that was given up has no receipts.
  const least = (input as ConfirmFileInput | undefined)?.isSuccessful === false ? 0 : 1
  return checkFields(input, {
    uploadSessionId: checkId,
    sessionFileId: checkId,
    isSuccessful: optional(checkBoolean, true),
    parts: listOf(checkPart, { least, uniqueField: 'partNumber' }),
  })
}

const checkPart: Check = (part, label) =>
  checkFields(part as ConfirmFileInput['parts'][number], { partNumber: checkOrdinal, etag: checkText }, label)

export function checkSegment(input: SegmentInput): WireObject {
  return checkFields(input, {
    movementTypeId: checkInteger,
    domHand: checkDomHand,
    orgMovementIds: optional(listOf(checkText, { least: 0 })),
    extra: optional(checkObject),
  })
}

export function checkAnalysis(input: AnalysisInput): WireObject {
  return checkFields(input, {
    name: checkText,
    primaryAnalysisSegmentId: checkSegmentId,
    comparisonAnalysisSegmentId: optional(checkSegmentId),
    populationAnalysisSegmentId: optional(checkSegmentId),
    status: optional(checkNewStatus),
    extra: optional(checkObject),
  })
}

const checkOrdinal: Check = (value, label) => checkInteger(value, label, 1)

const checkNewStatus: Check = (status, label) =>
  checkIs(
    status,
    label,
    (text): text is string => text === 'draft' || text === 'requested',
    ': give draft or requested.',
  )
