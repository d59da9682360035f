// Tells the element where the service is. In a product the address is an attribute, `base-url`, and the credential an
// access token that your own server hands out for a while: `{ accessToken: async () => … }`.

import 'mocap-uplink/element/define'

const form = document.querySelector('#connect')
const uploader = document.querySelector('mocap-uploader')
const result = document.querySelector('#result')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const fields = new FormData(form)
  // The day here, written as 2026-11-20: in Greenwich it may be tomorrow already.
  uploader.setAttribute('date', new Date().toLocaleDateString('sv'))
  uploader.setAttribute('base-url', fields.get('service').trim())
  uploader.credentials = { apiKey: fields.get('key').trim() }
  uploader.hidden = false
  form.remove()
})

uploader.addEventListener('mocap-upload-done', ({ detail: { status, files } }) => {
  result.textContent = `${status}: ${files.filter((file) => file.status === 'confirmed').length} of ${files.length} files`
})
