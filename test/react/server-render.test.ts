// The hook where there is no page: a server renders what a page shows at first, and nothing is begun.

import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, it } from 'vitest'
import { createUploadStore, useUpload, type UploadStore } from '../../src/react.ts'
import { scriptedUpload } from './scripted-upload.ts'

function Status({ store }: { readonly store?: UploadStore }) {
  const { state, files, progress } = useUpload(store)
  return createElement('p', null, `${state}, ${files.length} files, ${progress.totalBytes} bytes`)
}

it('renders idle on a server', () => {
  expect(renderToString(createElement(Status))).toBe('<p>idle, 0 files, 0 bytes</p>')
})

it('renders idle on a server whatever a store outside shows, as a page does before it is alive', () => {
  const store = createUploadStore({ schedule: () => undefined })
  store.start(() => scriptedUpload())

  expect(store.view().state).toBe('creating')
  expect(renderToString(createElement(Status, { store }))).toBe('<p>idle, 0 files, 0 bytes</p>')
})
