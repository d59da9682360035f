// Tells the element where the service is. In a product the address is the attribute `base-url`, and the credential is a
// short-lived access token from your own server: `{ accessToken: async () => … }`.

import 'mocap-uplink/element/define'

const form = document.querySelector('#connect')
const uploader = document.querySelector('mocap-uploader')
const result = document.querySelector('#result')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const fields = new FormData(form)
  // The local date as 2026-11-20. The UTC date may already be tomorrow's.
  uploader.setAttribute('date', new Date().toLocaleDateString('sv'))
  uploader.setAttribute('base-url', fields.get('service').trim())
  uploader.credentials = { apiKey: fields.get('key').trim() }
  uploader.hidden = false
  form.remove()
  // With the form goes the focus, which would fall to the top of the page.
  uploader.focus()
})

// Seen, and not heard: a screen reader is told by the element.
uploader.addEventListener('mocap-upload-done', ({ detail: { status, files } }) => {
  result.textContent = `${status}: ${files.filter((file) => file.status === 'confirmed').length} of ${files.length} files`
})
