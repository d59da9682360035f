// One file. A row that did not change is the same object, so `memo` draws only those that did.

import type { UploadFileStatus } from 'mocap-uplink/browser'
import { memo } from 'react'

export const FileRow = memo(function FileRow({ file }: { readonly file: UploadFileStatus }) {
  return (
    <li data-state={file.state}>
      {file.name} <progress aria-label={file.name} max={Math.max(1, file.bytes)} value={file.sentBytes} />{' '}
      {file.state === 'pending' ? 'waiting' : file.state}
      {file.error && `: ${file.error.message}`}
    </li>
  )
})
