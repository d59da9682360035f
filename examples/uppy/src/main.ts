// Uppy's dashboard on top of mocap-uplink's engine. In a product the service's address is known, and the key is
// replaced by a short-lived access token from your own server: `credentials: { accessToken: async () => … }`.

import Uppy from '@uppy/core'
import '@uppy/core/css/style.min.css'
import Dashboard from '@uppy/dashboard'
import '@uppy/dashboard/css/style.min.css'
import { createUplink } from 'mocap-uplink/browser'
import { resumeEarlier, showEarlier } from './earlier.ts'
import { MocapUplinkUploader } from './mocap-uplink-uploader.ts'
import './page.css'

const form = document.querySelector<HTMLFormElement>('#connect')
form?.addEventListener('submit', (event) => {
  event.preventDefault()
  const fields = new FormData(form)
  try {
    openDashboard(String(fields.get('service')).trim(), String(fields.get('key')).trim())
    form.remove()
    // With the form goes the focus, which would fall to the top of the page.
    document.querySelector<HTMLElement>('#dashboard button')?.focus()
  } catch (error) {
    document.querySelector('#problem')?.replaceChildren(String(error))
  }
})

function openDashboard(baseUrl: string, apiKey: string): void {
  const uplink = createUplink({ baseUrl, credentials: { apiKey } })
  const uppy = new Uppy({
    // An empty clip is a copy that failed. Beside one, Uppy also says “of unknown” instead of how much there is.
    restrictions: { allowedFileTypes: ['.mp4', '.mov'], minFileSize: 1 },
    locale: { strings: { inferiorSize: 'An empty file was not added' }, pluralize: (count) => (count === 1 ? 0 : 1) },
  })
    .use(Dashboard, { target: '#dashboard', inline: true, theme: 'auto', proudlyDisplayPoweredByUppy: false })
    .use(MocapUplinkUploader, {
      begin: (files) =>
        uplink.uploadVideos({
          files: files.map((file) => ({ ...file, frameRate: 240 })),
          movementTypeId: 1,
          playerId: 'p-17',
          // The local date as 2026-11-20. The UTC date may already be tomorrow's.
          sessionDate: new Date().toLocaleDateString('sv'),
          sessionTypeId: 2,
        }),
      resume: (files, beside) => resumeEarlier(uplink, files, beside),
    })
  const place = document.querySelector('#earlier')
  if (place === null) return
  // Without a journal there is nothing to resume, and no error to show.
  const shown = (): File[] =>
    uppy
      .getFiles()
      .map(({ data }) => data)
      .filter((data) => data instanceof File)
  const show = (): void => void showEarlier(uplink, place, shown).catch(() => undefined)
  uppy.on('upload', () => place.replaceChildren())
  uppy.on('complete', show)
  uppy.on('cancel-all', show)
  show()
}
