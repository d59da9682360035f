// The events that the element dispatches to its page. All of them bubble and are composed, so that they also reach listeners
// outside of a surrounding shadow root.

import type { ErrorSummary } from '../core/errors.ts'
import type { UploadFileStatus, UploadReport, UploadState } from '../flows/upload.ts'
import type { Refusal } from './acceptance.ts'
import type { Totals } from './list-state.ts'

export interface MocapUploaderEventMap {
  /** An upload has begun or was resumed. */
  'mocap-upload-start': CustomEvent<{ readonly key: string; readonly names: readonly string[] }>
  'mocap-upload-state': CustomEvent<{ readonly key: string; readonly state: UploadState }>
  /** The totals of all uploads of the element. At most five events a second for each upload. */
  'mocap-upload-progress': CustomEvent<Totals>
  /** The state of a file has changed. */
  'mocap-upload-file': CustomEvent<{ readonly key: string; readonly file: UploadFileStatus }>
  /** An upload ended with all of its files confirmed (`status: 'confirmed'`) or only some of them (`partial`). */
  'mocap-upload-done': CustomEvent<UploadReport>
  'mocap-upload-cancelled': CustomEvent<UploadReport>
  /** An upload failed or could not begin. If it could not begin, there is no report. */
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
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- Adds to the interface of that name.
  interface GlobalEventHandlersEventMap extends MocapUploaderEventMap {}
}
