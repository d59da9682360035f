// The events that the element sends to its page. All of them bubble and are composed, so that a listener outside of other
// shadow roots hears them too.

import type { ErrorSummary } from '../core/errors.ts'
import type { UploadFileStatus, UploadReport, UploadState } from '../flows/upload.ts'
import type { Refusal } from './acceptance.ts'
import type { Totals } from './list-state.ts'

export interface MocapUploaderEventMap {
  /** An upload has begun, or was taken up again. */
  'mocap-upload-start': CustomEvent<{ readonly key: string; readonly names: readonly string[] }>
  'mocap-upload-state': CustomEvent<{ readonly key: string; readonly state: UploadState }>
  /** Over all uploads of the element; at most five a second for each. */
  'mocap-upload-progress': CustomEvent<Totals>
  /** A file changed its state. */
  'mocap-upload-file': CustomEvent<{ readonly key: string; readonly file: UploadFileStatus }>
  /** An upload ended with every file confirmed (`status: 'confirmed'`) or some (`partial`). */
  'mocap-upload-done': CustomEvent<UploadReport>
  'mocap-upload-cancelled': CustomEvent<UploadReport>
  /** An upload failed, or could not be begun; then there is no report. */
  'mocap-upload-error': CustomEvent<{ readonly error: ErrorSummary; readonly report: UploadReport | undefined }>
  /** Files were not added. */
  'mocap-upload-refused': CustomEvent<{ readonly files: readonly Refusal[] }>
}

export type Tell = <Name extends keyof MocapUploaderEventMap>(
  name: Name,
  detail: MocapUploaderEventMap[Name]['detail'],
) => void

export function tellOn(target: EventTarget): Tell {
  return (name, detail) => {
    target.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }
}

declare global {
  /** Typed on every element and the document, because the events bubble. */
  interface GlobalEventHandlersEventMap {
    'mocap-upload-start': MocapUploaderEventMap['mocap-upload-start']
    'mocap-upload-state': MocapUploaderEventMap['mocap-upload-state']
    'mocap-upload-progress': MocapUploaderEventMap['mocap-upload-progress']
    'mocap-upload-file': MocapUploaderEventMap['mocap-upload-file']
    'mocap-upload-done': MocapUploaderEventMap['mocap-upload-done']
    'mocap-upload-cancelled': MocapUploaderEventMap['mocap-upload-cancelled']
    'mocap-upload-error': MocapUploaderEventMap['mocap-upload-error']
    'mocap-upload-refused': MocapUploaderEventMap['mocap-upload-refused']
  }
}
