// The names for S3-compatible stores without a service in between: the protocol for uplink.upload, and a look at what a
// store holds of an upload. The portable entry and Node's have the same names.

export { s3Multipart, type S3MultipartOptions } from './protocols/s3-multipart.ts'
export { listParts, type S3ListedPart, type S3Upload } from './protocols/s3-parts.ts'
export type { S3CallPorts, S3Sign, S3SignedRequest, S3SignRequest } from './protocols/s3-sign.ts'
