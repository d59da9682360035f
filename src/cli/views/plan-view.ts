// What `--dry-run` shows of an upload: every file with its parts and bytes, and the calls that would be made.

import { formatBytes } from '../../core/plan.ts'
import type { UploadPlan } from '../../flows/plan-upload.ts'
import type { Output } from './output.ts'
import { countOf } from './wording.ts'

/** Prints the plan. With `--json` it is the one event `plan`, and the last line. */
export function printPlan(output: Output, flow: 'video' | 'capture', plan: UploadPlan): void {
  const { bytes, parts, calls } = plan
  const files = plan.files.map(({ name, sizeBytes, partCount, partSizeBytes }) => ({
    name,
    bytes: sizeBytes,
    parts: partCount,
    partBytes: partSizeBytes,
  }))
  output.event('plan', { flow, bytes, parts, calls, files })
  for (const file of files) {
    const of = file.parts > 1 ? ` of ${formatBytes(file.partBytes)}` : ''
    output.say(`${file.name}: ${formatBytes(file.bytes)} in ${countOf(file.parts, 'part')}${of}`)
  }
  const { create, register, put, confirm } = calls
  const steps = [`${create} create`, `${register} register`, `${put} PUT`, `${confirm} confirm`]
  output.answer(
    `dry run: ${countOf(files.length, 'file')}, ${countOf(parts, 'part')}, ${formatBytes(bytes)} (${bytes} bytes); ` +
      `calls: ${steps.filter((step) => !step.startsWith('0 ')).join(', ')}. Nothing was called.`,
  )
}

/** Prints the calls that another command would make. */
export function printCalls(output: Output, flow: string, calls: readonly string[]): void {
  output.event('plan', { flow, calls })
  for (const call of calls) output.answer(`dry run: ${call}`)
  if (calls.length === 0) output.answer('dry run: no call')
}
