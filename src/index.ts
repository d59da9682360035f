// The portable face: everything but the platform. A host that brings its own ports calls createUplink(options, ports).

export * from './index-names.ts'
export * from './s3.ts'
export { adviceOn } from './core/advice.ts'
export { createUplink } from './uplink.ts'
