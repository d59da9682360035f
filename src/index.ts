// The portable entry point: everything but the platform. The host brings its own ports and calls createUplink(options, ports).

import { adaptiveTuning } from './core/adaptive-tuning.ts'
import { isPublicHost } from './core/address/public-host.ts'
import { checkRequired } from './client/checks.ts'
import { checkOptions, checkPorts } from './option-checks.ts'
import { createUplink as createBareUplink, type Uplink, type UplinkOptions, type UplinkPorts } from './uplink.ts'

export * from './index-names.ts'
export * from './s3.ts'
export * from './tuning.ts'
export { adviceOn } from './core/advice.ts'
export { isPublicHost } from './core/address/public-host.ts'
export { withHeaders } from './adapters/web/with-headers.ts'

/** Creates an Uplink on the host's own ports. Throws ERR_UPLOAD_INVALID_ARGUMENT or ERR_UPLOAD_INSECURE_URL. Makes no call. */
export function createUplink(options: UplinkOptions, ports: UplinkPorts): Uplink {
  checkOptions(options)
  for (const name of ['transport', 'journal', 'clock', 'random'] as const)
    checkRequired(checkRequired(ports, 'ports')[name], name)
  checkPorts(ports)
  return createBareUplink(options, { tuning: adaptiveTuning, isPublicHost, ...ports })
}
