// What each operation needs before it is called, field by field.

import { invalid } from '../core/errors.ts'
import type {
  AnalysisInput,
  ConfirmFileInput,
  MocapSessionInput,
  RegisterFilesInput,
  SegmentInput,
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

export function checkMocapSession(input: MocapSessionInput): void {
  checkText(input.orgId, 'orgId')
  checkInteger(input.mocapTypeId, 'mocapTypeId')
  checkDate(input.sessionDate, 'sessionDate')
  checkInteger(input.sessionTypeId, 'sessionTypeId')
  checkExtra(input.extra)
}

export function checkRegister(input: RegisterFilesInput): void {
  checkId(input.sessionId, 'sessionId')
  checkList(input.filenames, 'filenames').forEach((name, index) => checkFileName(name, `filenames[${index}]`))
  checkUnique(input.filenames, 'filenames')
  if (input.frameRate !== undefined) checkFrameRate(input.frameRate, 'frameRate')
  if (input.reprocess !== undefined) checkBoolean(input.reprocess, 'reprocess')
  checkExtra(input.extra)
}

export function checkVideoUpload(input: VideoUploadInput): void {
  checkList(input.files, 'files')
  input.files.forEach((file, index) => {
    const at = `files[${index}]`
    checkRequired(file, at)
    checkFileName(file.name, `${at}.name`)
    checkInteger(file.sizeBytes, `${at}.sizeBytes`)
    checkInteger(file.partCount, `${at}.partCount`, 1)
    if (file.fileId !== undefined) checkInteger(file.fileId, `${at}.fileId`)
    if (file.frameRate !== undefined) checkFrameRate(file.frameRate, `${at}.frameRate`)
  })
  checkUnique(
    input.files.map((file) => file.fileId).filter((fileId) => fileId !== undefined),
    'files[].fileId',
  )
  checkInteger(input.movementTypeId, 'movementTypeId')
  checkText(input.playerId, 'playerId')
  checkDate(input.sessionDate, 'sessionDate')
  checkInteger(input.sessionTypeId, 'sessionTypeId')
  checkExtra(input.extra)
}

export function checkConfirm(input: ConfirmFileInput): void {
  checkId(input.uploadSessionId, 'uploadSessionId')
  checkId(input.sessionFileId, 'sessionFileId')
  if (input.isSuccessful !== undefined) checkBoolean(input.isSuccessful, 'isSuccessful')
  checkRequired(input.parts, 'parts')
  // A file that was given up has no receipts.
  if (input.isSuccessful !== false) checkList(input.parts, 'parts')
  input.parts.forEach((part, index) => {
    checkInteger(part.partNumber, `parts[${index}].partNumber`, 1)
    checkText(part.etag, `parts[${index}].etag`)
  })
  checkUnique(
    input.parts.map((part) => part.partNumber),
    'parts[].partNumber',
  )
}

export function checkSegment(input: SegmentInput): void {
  checkInteger(input.movementTypeId, 'movementTypeId')
  checkDomHand(input.domHand, 'domHand')
  if (input.orgMovementIds !== undefined) {
    if (input.orgMovementIds.length > 0) checkList(input.orgMovementIds, 'orgMovementIds')
    input.orgMovementIds.forEach((id, index) => checkText(id, `orgMovementIds[${index}]`))
  }
  checkExtra(input.extra)
}

export function checkAnalysis(input: AnalysisInput): void {
  checkText(input.name, 'name')
  checkSegmentId(input.primaryAnalysisSegmentId, 'primaryAnalysisSegmentId')
  for (const field of ['comparisonAnalysisSegmentId', 'populationAnalysisSegmentId'] as const)
    if (input[field] !== undefined) checkSegmentId(input[field], field)
  const status: unknown = input.status
  if (status !== undefined && status !== 'draft' && status !== 'requested')
    invalid(`status is ${show(status)}: give draft or requested.`, { field: 'status' })
  checkExtra(input.extra)
}

function checkExtra(extra: unknown): void {
  if (extra !== undefined && !isWireObject(extra))
    invalid('extra is no object: give further fields under their wire names.', { field: 'extra' })
}
