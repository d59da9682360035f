// What the view asks its element for. It is read anew whenever it is needed, because attributes change.

import type { BrowserResumeOptions, BrowserUplink } from '../browser.ts'
import type { Source } from '../core/ports.ts'
import type { Upload } from '../flows/upload.ts'
import type { UploaderFlow } from './attributes.ts'
import type { Words } from './words.ts'

export interface Setting {
  /** The same object until the texts or the language change. */
  readonly words: Words
  readonly flow: UploaderFlow
  readonly accept: string
  readonly isRenaming: boolean
  /** Whether captures are added to a session that the page names. */
  readonly isAdding: boolean
  readonly isStartingByItself: boolean
  /** Undefined while neither an Uplink nor a base URL with credentials is given. Throws if the base URL is not a valid one. */
  uplink(): BrowserUplink | undefined
  /** Begins an upload. Throws the flow's error about its input. */
  begin(uplink: BrowserUplink, sources: readonly Source[]): Upload
  /** Resumes an upload, with what no journal can hold: the functions and the signal of its input. */
  resume(uplink: BrowserUplink, key: string, options: BrowserResumeOptions): Promise<Upload>
}
