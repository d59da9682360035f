// What `serve --faults` names: a JSON file with rules, or one of the ready-made nights. Checked before anything starts.

import { invalid } from '../../core/errors.ts'
import type { FaultPlan } from '../../service/index.ts'
import { readText } from '../options/option-values.ts'

/** The checked plan. Rejects with ERR_UPLOAD_INVALID_ARGUMENT that names the file, or the rule and its field. */
export async function faultsFromOption(text: string): Promise<FaultPlan> {
  const given = text.startsWith('night:') ? text : await readRules(text)
  // Imported only here: uploads need nothing of the service.
  const { readFaultPlan } = await import('../../service/faults/fault-plan.ts')
  try {
    return readFaultPlan(given)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return invalid(`--faults: ${error.message}`)
  }
}

async function readRules(path: string): Promise<unknown> {
  const json = await readText(path, '--faults')
  try {
    return JSON.parse(json) as unknown
  } catch {
    return invalid(`--faults: "${path}" is not JSON. docs/faults.md shows what it may hold.`)
  }
}
