// The face for S3-compatible stores without a service between: the protocol for uplink.upload, and a look at what a store
// holds of an upload. The same names are in the portable face and in Node's.

export { s3Multipart, type S3MultipartOptions } from './protocols/s3-multipart.ts'
export { listParts, type S3ListedPart, type S3Upload } from './protocols/s3-parts.ts'
export type { S3CallPorts, S3Sign, S3SignedRequest, S3SignRequest } from './protocols/s3-sign.ts'
