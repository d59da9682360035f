// What the result of an upload says is stored already, and what of it was sent now.

import { expect, it } from 'vitest'

import { endedResult, printResult, type UploadResult } from '../../src/cli/upload-result.ts'
import type { Output } from '../../src/cli/views/output.ts'
import type { ErrorSummary } from '../../src/core/errors.ts'
import type { Upload, UploadReport } from '../../src/flows/upload.ts'

it.each<[ErrorSummary['code'], number]>([
  ['ERR_UPLOAD_NETWORK', 11],
  ['ERR_UPLOAD_CONFIRM_REFUSED', 4],
  ['ERR_UPLOAD_SOURCE_CHANGED', 4],
])('counts as stored what a resume need not send again: with a file that failed of %s, %i bytes', (code, bytes) => {
  const report = { flow: 'video', status: 'failed', key: 'k', bytes: 20, durationMs: 1, files: [] }
  const failed = { confirmedBytes: 7, error: { code, message: 'No.' } }
  const files = () => [{ confirmedBytes: 4 }, failed]

  const result = endedResult(report as unknown as UploadReport, { files } as unknown as Pick<Upload, 'files'>)

  expect(result.confirmedBytes).toBe(bytes)
})

it.each([
  [0, '5 B in 1.0 s (5 B/s)'],
  [3, '5 B, 2 B of it now, in 1.0 s (2 B/s)'],
  [5, '5 B, all of it before, in 1.0 s'],
])('says what was sent now where %i bytes were there before', (bytesBefore, words) => {
  const answers: string[] = []
  const output = { event: () => undefined, answer: (text: string) => void answers.push(text) } as unknown as Output
  const file = { name: 'a.mp4', bytes: 5, parts: 1, status: 'confirmed', verified: true } as const
  const result: UploadResult = {
    ...{ flow: 'video', status: 'confirmed', key: 'k', sessionId: null, bytes: 5, durationMs: 1_000, files: [file] },
  }

  printResult(output, result, { bytesBefore })

  expect(answers).toEqual([`confirmed: 1 of 1 file confirmed, 1 verified, ${words}`])
})
