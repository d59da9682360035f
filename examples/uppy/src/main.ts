// Uppy's dashboard over mocap-uplink's engine. In a product the service's address is known, and the key is an access token
// that your own server hands out for a while: `credentials: { accessToken: async () => … }`.

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
  } catch (error) {
    document.querySelector('#problem')?.replaceChildren(String(error))
  }
})

function openDashboard(baseUrl: string, apiKey: string): void {
  const uplink = createUplink({ baseUrl, credentials: { apiKey } })
  const uppy = new Uppy({ restrictions: { allowedFileTypes: ['.mp4', '.mov'] } })
    .use(Dashboard, { target: '#dashboard', inline: true, theme: 'auto', proudlyDisplayPoweredByUppy: false })
    .use(MocapUplinkUploader, {
      begin: (files) =>
        uplink.uploadVideos({
          files: files.map((file) => ({ ...file, frameRate: 240 })),
          movementTypeId: 1,
          playerId: 'p-17',
          // The day here, written as 2026-11-20: in Greenwich it may be tomorrow already.
          sessionDate: new Date().toLocaleDateString('sv'),
          sessionTypeId: 2,
        }),
      resume: (files, beside) => resumeEarlier(uplink, files, beside),
    })
  const place = document.querySelector('#earlier')
  if (place === null) return
  // Without a journal there is nothing to go on with, and no trouble to speak of.
  const show = (): void => void showEarlier(uplink, place).catch(() => undefined)
  uppy.on('upload', () => place.replaceChildren())
  uppy.on('complete', show)
  uppy.on('cancel-all', show)
  show()
}
