// Where a file lies in object storage. Keys are made of ids only, so that no name from outside becomes a path.

import type { Signer } from './signing.ts'

/** The parts of a key. */
export interface ObjectKey {
  readonly flow: 'captures' | 'videos'
  readonly sessionId: string
  readonly fileId: number
}

export function keyOf({ flow, sessionId, fileId }: ObjectKey): string {
  return `${flow}/${sessionId}/${fileId}`
}

/** Reads the path of an object address; undefined if it is not ours. */
export function keyOfPath(path: string): ObjectKey | undefined {
  const match = /^\/objects\/(captures|videos)\/([0-9a-f-]{36})\/(\d{1,15})$/.exec(path)
  if (match?.[1] === undefined || match[2] === undefined) return undefined
  return { flow: match[1] === 'captures' ? 'captures' : 'videos', sessionId: match[2], fileId: Number(match[3]) }
}

/** An address for one PUT or one read. Pass `partNumber` only where a file has parts. */
export function addressOf(
  { signer, publicUrl }: { readonly signer: Signer; readonly publicUrl: () => string },
  method: 'PUT' | 'GET',
  key: ObjectKey,
  partNumber?: number,
): string {
  const query = partNumber === undefined ? {} : { partNumber, uploadId: key.sessionId }
  return publicUrl() + signer.sign(method, `/objects/${keyOf(key)}`, query)
}
