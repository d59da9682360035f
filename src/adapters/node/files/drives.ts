// Which drive a folder lies on, as far as that was seen: asking takes a thread, and a drive that is gone would keep it.

import { readlink, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

import { diskThreads, type Drive } from './disk-threads.ts'

/** Folders that are remembered. Beyond that all are forgotten. */
const MAX_FOLDERS = 10_000
/** Links on the way to a file that are followed. They may lead in a circle. */
const MOST_LINKS = 40

const devices = new Map<string, bigint>()

export function driveOf(folder: string): Drive {
  return devices.get(folder) ?? folder
}

/** Notes the device of something in this folder, unless it is not told. */
export function noteDevice(folder: string, device: bigint): void {
  if (device === 0n) return
  if (devices.size >= MAX_FOLDERS) devices.clear()
  devices.set(folder, device)
}

/**
 * Whether two answers of the system may be of one device. On Windows 11, libuv 1.49 and 1.50 (Node 22.12 to 22.16, 24.0 and 24.1) know
 * that of an open file, but say of a path that it is 0, or 64 bits of which that of an open file has the lower 32.
 */
export function isSameDevice(left: bigint, right: bigint): boolean {
  return left === 0n || right === 0n || BigInt.asUintN(32, left ^ right) === 0n
}

/**
 * Whether a file that was seen on this drive, and then nowhere, may be back in a moment, or is: its drive is there no more, as when it
 * was unplugged or unmounted. What is left of the way to the file then lies on another one.
 */
export function isDriveGone(location: string, device: bigint): Promise<boolean> {
  // Asked of the file last: with its drive, which may have come back since, it is there again.
  return diskThreads.run(device, async () => {
    const rest = await deviceOfRest(location)
    return rest === undefined || !isSameDevice(rest, device) || (await seenAt(location)) !== undefined
  })
}

/** The drive of what is left of the way to a place, links included. */
async function deviceOfRest(path: string, linksLeft = MOST_LINKS): Promise<bigint | undefined> {
  const device = await seenAt(path)
  if (device !== undefined) return device
  const above = dirname(path)
  const target = linksLeft > 0 ? await readlink(path).catch(() => undefined) : undefined
  if (target !== undefined) return deviceOfRest(resolve(above, target), linksLeft - 1)
  return above === path ? undefined : deviceOfRest(above, linksLeft)
}

async function seenAt(path: string): Promise<bigint | undefined> {
  return stat(path, { bigint: true }).then(
    ({ dev }) => dev,
    () => undefined,
  )
}
