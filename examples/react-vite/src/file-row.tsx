// One file. `memo` renders only the rows that changed, because the status of an unchanged file is the same object.

import type { UploadFileStatus } from 'mocap-uplink/browser'
import { memo } from 'react'

interface FileRowProps {
  readonly file: UploadFileStatus
  /** What is said of a file that is neither confirmed nor failed, if the whole upload stands still. Its own status does not say. */
  readonly still: 'paused' | 'stopped' | undefined
}

export const FileRow = memo(function FileRow({ file, still }: FileRowProps) {
  const isLeft = file.state === 'pending' || file.state === 'uploading'
  const words = (isLeft && still) || file.state
  return (
    <li data-state={file.state}>
      <bdi>{file.name}</bdi> <br />
      <progress aria-label={file.name} max={Math.max(1, file.bytes)} value={file.sentBytes} />{' '}
      {words === 'pending' ? 'waiting' : words}
      {/* The message names the file, as the row does. */}
      {file.error && `: ${file.error.message.replace(`${file.name}: `, '')}`}
    </li>
  )
})
