// Which drive a folder lies on, as far as that was seen: asking takes a thread, and a drive that is gone would keep it.

import type { Drive } from './disk-threads.ts'

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
