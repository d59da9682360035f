// The entry point for React: a hook, and the store behind it for sharing one upload between components.
'use client'

export { useUpload, type UseUpload } from './react/use-upload.ts'
export { createUploadStore, type UploadStore, type UploadStoreOptions } from './react/upload-store.ts'
export type { UploadView } from './react/upload-view.ts'
