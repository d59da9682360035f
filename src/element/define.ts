// The entry point with the side effect: importing it registers `<mocap-uploader>`.

import { defineMocapUploader } from './uploader-element.ts'

defineMocapUploader()
