// Any other store or service: the host brings the protocol, and everything else works as in the other flows.

import { checkRequired } from '../client/checks.ts'
import type { Protocol } from '../core/ports.ts'
import { checkFiles } from './prepare.ts'
import type { LettingGo } from './running.ts'
import type { FlowContext, UploadDefinition, UploadFile } from './upload-definition.ts'

/** An upload by a protocol of the host's. */
export interface CustomInput extends LettingGo {
  readonly protocol: Protocol
  /** At least one. Each name is a base name without a path. */
  readonly files: readonly UploadFile[]
  /** What the host wants to find in the journal again: plain data, never a credential. Default: nothing. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Bytes of a part, within the protocol's limits. Default as for videos. */
  readonly partSizeBytes?: number | undefined
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for any problem that shows without looking at the files. */
export function defineCustom(context: FlowContext, input: CustomInput): UploadDefinition {
  const { protocol, files, params = {}, partSizeBytes = context.partSizeBytes, signal } = input
  checkFiles(files)
  checkRequired(protocol, 'protocol')
  return { flow: 'custom', params, files: [...files], protocol, partSizeBytes, signal }
}
