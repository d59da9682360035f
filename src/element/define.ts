// The entry point with the side effect: importing it registers `<mocap-uploader>`, and does nothing on a server.

import { defineMocapUploader } from './uploader-element.ts'

if (typeof customElements !== 'undefined') defineMocapUploader()
