// A sign of life that is seen wherever the folder is, also from another container, where processes are counted anew and no id
// says anything: a socket in the folder, at which its process listens for as long as it lives. Linux only.

import { open, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

export interface Beacon {
  end(): Promise<void>
}

/** Undefined where the disk takes no sockets. */
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

/** Whether the process that lit it lives. Undefined: it lit none, or that cannot be told. */
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

/** The path of a socket has 107 bytes at most, so that the folder goes by a short one meanwhile. */
async function nearby<T>(folder: string, work: (path: string) => Promise<T>): Promise<T> {
  const handle = await open(folder, 'r')
  try {
    return await work(`/proc/self/fd/${handle.fd}`)
  } finally {
    await handle.close()
  }
}
