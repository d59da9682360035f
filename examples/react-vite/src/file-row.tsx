// One file. `memo` renders only the rows that changed, because the status of an unchanged file is the same object.

import type { UploadFileStatus } from 'mocap-uplink/browser'
import { memo } from 'react'

interface FileRowProps {
  readonly file: UploadFileStatus
  /** Whether the whole upload is paused. A file's own status does not say. */
  readonly isPaused: boolean
}

export const FileRow = memo(function FileRow({ file, isPaused }: FileRowProps) {
  const isLeft = file.state === 'pending' || file.state === 'uploading'
  const words = isPaused && isLeft ? 'paused' : file.state
  return (
    <li data-state={file.state}>
      <bdi>{file.name}</bdi> <progress aria-label={file.name} max={Math.max(1, file.bytes)} value={file.sentBytes} />{' '}
      {words === 'pending' ? 'waiting' : words}
      {file.error && `: ${file.error.message}`}
    </li>
  )
})
