// What the demo shows at its end.

import { formatBytes } from '../../core/plan.ts'
import type { Output } from '../views/output.ts'
import type { AnalysisResult } from '../run-analysis.ts'
import type { UploadResult } from '../upload-result.ts'
import { countOf, formatDuration, formatRate } from '../views/wording.ts'
import type { Comparison } from './read-back.ts'

export interface DemoReport {
  readonly uploads: readonly UploadResult[]
  readonly analysis: AnalysisResult
  readonly comparison: Comparison
  readonly durationMs: number
}

/** True when everything was confirmed, completed and read back without a difference. */
export function isGood({ uploads, analysis, comparison }: DemoReport): boolean {
  const sent = uploads.reduce((sum, upload) => sum + upload.files.length, 0)
  return (
    uploads.every((upload) => upload.status === 'confirmed') &&
    analysis.status === 'completed' &&
    sent > 0 &&
    comparison.identical === sent &&
    comparison.objects === sent &&
    comparison.differences.length === 0
  )
}

/** Prints the report; the last JSON line is its result. */
export function printReport(output: Output, report: DemoReport): void {
  const { uploads, analysis, comparison, durationMs } = report
  const sent = uploads.reduce((sum, upload) => sum + upload.files.length, 0)
  for (const difference of comparison.differences) output.complain(`error: ${difference}`)
  output.answer('')
  for (const { flow, status, files, bytes, durationMs: tookMs } of uploads) {
    const parts = files.reduce((sum, file) => sum + file.parts, 0)
    const verified = files.filter((file) => file.verified).length
    const rate = formatRate((bytes / Math.max(1, tookMs)) * 1000)
    output.answer(`${(flow ?? '').padEnd(9)} ${status}: ${countOf(files.length, 'file')} in ${countOf(parts, 'part')}`)
    output.answer(`          ${formatBytes(bytes)} in ${formatDuration(tookMs)} (${rate}), ${verified} verified`)
  }
  output.answer(
    `analysis  ${analysis.status}: id ${analysis.analysisId ?? 'none'}, ${analysis.serviceStatus ?? 'no word'}`,
  )
  output.answer(`stored    ${comparison.identical} of ${countOf(sent, 'object')} identical, read back by SHA-256`)
  output.answer(`${isGood(report) ? 'All is well' : 'Something went wrong'}, after ${formatDuration(durationMs)}.`)
  output.event('result', {
    flow: 'demo',
    status: isGood(report) ? 'confirmed' : 'failed',
    durationMs: Math.round(durationMs),
    uploads,
    analysis,
    stored: comparison,
  })
}
