// The entry point with a side effect: importing it registers `<mocap-uploader>`. On a server it does nothing.

import { defineMocapUploader } from './uploader-element.ts'

if (typeof customElements !== 'undefined') defineMocapUploader()
