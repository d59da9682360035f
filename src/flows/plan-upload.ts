// What an upload would do, without doing it. This is the plan that `--dry-run` shows.

import type { PlannedFile } from '../core/ports.ts'
import { prepareFiles } from './prepare.ts'
import type { UploadDefinition } from './upload-definition.ts'

/** What an upload would do. */
export interface UploadPlan {
  readonly files: readonly PlannedFile[]
  /** Total size of all files. */
  readonly bytes: number
  /** Parts of all files together. */
  readonly parts: number
  /** Calls to the service, if none has to be repeated. */
  readonly calls: { readonly create: number; readonly register: number; readonly put: number; readonly confirm: number }
}

/** Looks at every source and plans it; calls nobody. Rejects as the upload itself would. */
export async function planUpload({ files, protocol, partSizeBytes, params }: UploadDefinition): Promise<UploadPlan> {
  const { traits } = protocol
  const signal = new AbortController().signal
  const plans = await prepareFiles(files, { limits: traits.units, partSizeBytes, signal })
  const parts = plans.reduce((sum, file) => sum + file.partCount, 0)
  return {
    files: plans,
    bytes: plans.reduce((sum, file) => sum + file.sizeBytes, 0),
    parts,
    calls: {
      create: params['sessionId'] === undefined ? 1 : 0,
      register: traits.addressing === 'batches' ? Math.ceil(plans.length / traits.batchSize) : 0,
      put: parts,
      confirm: protocol.confirm ? plans.length : 0,
    },
  }
}
