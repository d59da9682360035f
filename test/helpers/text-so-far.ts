import type { Readable } from 'node:stream'

/** All that can be read of a stream by now, as text. From Node 26 on, `read()` alone gives one chunk and not all of them. */
export function textSoFar(stream: Readable): string {
  let text = ''
  for (let chunk; (chunk = stream.read() as Buffer | string | null) !== null;) text += chunk.toString()
  return text
}
