// Starts the discarding server for one run and reads its counts, so that nobody wins by sending less.

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import type { Range } from '../measure/arrival.ts'
import { localhostCertificate, localhostKey } from '../../test/helpers/localhost-certificate.ts'

/** What a sink received. */
export interface SinkCounts {
  /** Bytes of bodies, without request heads and without TLS overhead. */
  readonly bodyBytes: number
  /** PUT and PATCH requests that were answered. */
  readonly bodies: number
  readonly requests: number
  readonly connections: number
  /** The largest number of connections open at the same time. */
  readonly mostOpen: number
  /** Processor time of the server itself. */
  readonly cpuMs: number
  /** The PUT and PATCH bodies that came to their end and began with a stamp. */
  readonly ranges: readonly Range[]
}

export interface Sink {
  /** `http://127.0.0.1:PORT`, or https. */
  readonly origin: string
  /** The certificate that a contestant has to trust. Present with TLS. */
  readonly certificateFile?: string
  /** Ends the sink and returns its counts. */
  counts(): Promise<SinkCounts>
}

export interface SinkOptions {
  /** The program compiled from sink.c. */
  readonly program: string
  /** Serve TLS, with the certificate and key written into `folder`. Default: plain TCP. */
  readonly tls?: { readonly folder: string }
}

/** Rejects if the program ends before it listens. */
export async function startSink({ program, tls }: SinkOptions): Promise<Sink> {
  const pems = tls === undefined ? undefined : await writePems(tls.folder)
  const certificateArgs = pems === undefined ? [] : ['--cert', pems.certificateFile, '--key', pems.keyFile]
  const child = spawn(program, certificateArgs, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async (): Promise<string> => {
    const line = await lines.next()
    if (line.done === true) throw new Error('The discarding server ended.')
    return line.value
  }
  const port = Number(await nextLine())
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    ...(pems === undefined ? {} : { certificateFile: pems.certificateFile }),
    async counts() {
      child.stdin.end()
      return JSON.parse(await nextLine()) as SinkCounts
    },
  }
}

async function writePems(folder: string): Promise<{ certificateFile: string; keyFile: string }> {
  const [certificateFile, keyFile] = [join(folder, 'localhost.pem'), join(folder, 'localhost.key')]
  await writeFile(certificateFile, localhostCertificate)
  await writeFile(keyFile, localhostKey)
  return { certificateFile, keyFile }
}
