// The exit codes, upon which scripts decide what to do next: docs/command-line.md has the table.

import { expect, it } from 'vitest'

import { exitCodeOfError } from '../../src/cli/exit-codes.ts'
import { exitCodeOf, jointStatus, type UploadResult } from '../../src/cli/upload-result.ts'
import { UploadError } from '../../src/core/errors.ts'

type File = UploadResult['files'][number]

const REFUSED = { code: 'ERR_UPLOAD_CREDENTIALS_REFUSED', message: 'Refused.' } as const

function file(status: File['status'], error?: File['error']): File {
  return { name: 'a.mp4', bytes: 1, parts: 1, status, verified: false, ...(error === undefined ? {} : { error }) }
}

function result(status: UploadResult['status'], files: readonly File[], error?: UploadResult['error']): UploadResult {
  const rest = { flow: 'video', key: 'k', sessionId: 's', bytes: 1, durationMs: 1 } as const
  return { ...rest, status, files, ...(error === undefined ? {} : { error }) }
}

const CONFIRMED = result('confirmed', [file('confirmed')])
const PARTIAL = result('partial', [file('confirmed'), file('failed', REFUSED)], REFUSED)
const FAILED = result('failed', [file('failed')])
const REFUSED_ALL = result('failed', [file('unfinished')], REFUSED)
const STOPPED = result('interrupted', [file('confirmed'), file('unfinished')])

it.each<[string, UploadResult, number]>([
  ['is confirmed', CONFIRMED, 0],
  ['failed', FAILED, 1],
  ['failed with no file', result('failed', []), 1],
  ['was cancelled', result('cancelled', [file('unfinished')]), 1],
  ['is confirmed in part, whatever the rest failed of', PARTIAL, 3],
  ['was cancelled after a file was confirmed', result('cancelled', [file('unfinished'), file('confirmed')]), 3],
  ['was refused its credentials', REFUSED_ALL, 4],
  ['was refused the credentials of a file', result('failed', [file('failed'), file('failed', REFUSED)]), 4],
  ['was let go without a signal', STOPPED, 130],
])('of an upload that %s', (_, ended, code) => {
  expect(exitCodeOf(ended.status, [ended], undefined)).toBe(code)
})

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('of an upload that %s stopped; one that had ended before keeps its own', (signal, code) => {
  expect([STOPPED, CONFIRMED, PARTIAL].map((one) => exitCodeOf(one.status, [one], signal))).toEqual([code, 0, 3])
})

it.each<[string, readonly UploadResult[], number]>([
  ['none', [], 0],
  ['two that are confirmed', [CONFIRMED, CONFIRMED], 0],
  ['two that failed', [FAILED, FAILED], 1],
  ['one that is confirmed and one that failed', [CONFIRMED, FAILED], 3],
  ['one that is confirmed and one that was refused', [CONFIRMED, REFUSED_ALL], 3],
  ['one that failed and one that is confirmed in part', [FAILED, PARTIAL], 3],
  ['one that failed and one that was refused', [FAILED, REFUSED_ALL], 4],
  ['some of which one was stopped', [CONFIRMED, FAILED, STOPPED, REFUSED_ALL], 143],
])('of several sessions together: %s', (_, results, joint) => {
  const status = jointStatus(results, { isLeft: false, areSomeElsewhere: false })
  expect(exitCodeOf(status, results, 'SIGTERM')).toBe(joint)
})

it.each<[UploadResult['status'], UploadResult['status'], readonly UploadResult[]]>([
  ['confirmed', 'failed', []],
  ['confirmed', 'partial', [CONFIRMED, CONFIRMED]],
  ['failed', 'failed', [FAILED, FAILED]],
  ['partial', 'partial', [FAILED, CONFIRMED]],
  ['partial', 'partial', [FAILED, PARTIAL]],
  ['interrupted', 'interrupted', [CONFIRMED, STOPPED]],
])('goes with the status %s of sessions together, with %s beside others elsewhere', (status, beside, results) => {
  const whole = { isLeft: false, areSomeElsewhere: false }
  expect(jointStatus(results, whole)).toBe(status)
  expect(jointStatus(results, { ...whole, areSomeElsewhere: true })).toBe(beside)
  expect(jointStatus(results, { ...whole, isLeft: true })).toBe('interrupted')
})

it.each([
  ['ERR_UPLOAD_INVALID_ARGUMENT', 2],
  ['ERR_UPLOAD_INSECURE_URL', 2],
  ['ERR_UPLOAD_SOURCE_READ', 2],
  ['ERR_UPLOAD_CREDENTIALS_REFUSED', 4],
  ['ERR_UPLOAD_JOURNAL', 1],
] as const)('of a command that ends with %s', (code, exitCode) => {
  expect(exitCodeOfError(new UploadError(code, 'No.'))).toBe(exitCode)
  expect(exitCodeOfError(Object.assign(new Error('Not ours.'), { code: 'ENOENT' }))).toBe(1)
})
