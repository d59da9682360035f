// One file. A row that did not change is the same object, so `memo` draws only those that did.

import type { UploadFileStatus } from 'mocap-uplink/browser'
import { memo } from 'react'

interface FileRowProps {
  readonly file: UploadFileStatus
  /** Of the whole: a file does not know. */
  readonly isPaused: boolean
}

export const FileRow = memo(function FileRow({ file, isPaused }: FileRowProps) {
  const isLeft = file.state === 'pending' || file.state === 'uploading'
  const words = isPaused && isLeft ? 'paused' : file.state
  return (
    <li data-state={file.state}>
      {file.name} <progress aria-label={file.name} max={Math.max(1, file.bytes)} value={file.sentBytes} />{' '}
      {words === 'pending' ? 'waiting' : words}
      {file.error && `: ${file.error.message}`}
    </li>
  )
})
