// A sign of life that works wherever the folder is, even from another container, where process ids mean nothing: a socket in the
// folder on which a process listens for as long as it lives. Linux only.

import { open, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

export interface Beacon {
  end(): Promise<void>
}

/** Undefined where the disk cannot hold sockets. */
export async function lightBeacon(folder: string, name: string): Promise<Beacon | undefined> {
  const server = createServer((socket) => socket.destroy())
  try {
    await nearby(folder, (path) => listening(server, join(path, name)))
  } catch {
    return undefined
  }
  server.unref()
  return {
    async end() {
      await new Promise((resolve) => server.close(resolve))
      await rm(join(folder, name), { force: true })
    },
  }
}

/** Whether the process that lit the beacon lives. Undefined if it lit none, or if that cannot be told. */
export function isLit(folder: string, name: string): Promise<boolean | undefined> {
  return nearby(
    folder,
    (path) =>
      new Promise((resolve) => {
        const socket = connect(join(path, name))
        socket.once('connect', () => {
          socket.destroy()
          resolve(true)
        })
        socket.once('error', (error: NodeJS.ErrnoException) =>
          resolve(error.code === 'ECONNREFUSED' ? false : undefined),
        )
      }),
  )
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ path, exclusive: true }, resolve)
  })
}

/** A socket's path is limited to 107 bytes, so the folder is addressed by a short one. */
async function nearby<T>(folder: string, work: (path: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, 'r')
  try {
    return await work(`/proc/self/fd/${handle.fd}`)
  } finally {
    await handle.close()
  }
}
