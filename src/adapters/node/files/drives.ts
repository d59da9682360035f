// Which drive a folder lies on, as far as that was seen: asking takes a thread, and a drive that is gone would keep it.

import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { diskThreads, type Drive } from './disk-threads.ts'

/** Folders that are remembered. Beyond that all are forgotten. */
const MAX_FOLDERS = 10_000

const devices = new Map<string, bigint>()

export function driveOf(folder: string): Drive {
  return devices.get(folder) ?? folder
}

/** Notes the device of something in this folder. */
export function noteDevice(folder: string, device: bigint): void {
  if (devices.size >= MAX_FOLDERS) devices.clear()
  devices.set(folder, device)
}

/**
 * Whether the drive on which something in this folder was seen is there no more, as when it was unplugged or unmounted. What is left
 * of the way to the folder then lies on another one.
 */
export function isDriveGone(folder: string, device: bigint): Promise<boolean> {
  const deviceOf = async (path: string): Promise<bigint | undefined> => {
    const facts = await stat(path, { bigint: true }).catch(() => undefined)
    const above = dirname(path)
    return facts?.dev ?? (above === path ? undefined : deviceOf(above))
  }
  return diskThreads.run(device, async () => (await deviceOf(folder)) !== device)
}
