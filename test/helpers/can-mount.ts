// Whether this machine can mount a separate file system for a test that fills a disk.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Tries it, because even root may lack the right to mount, for example in a container. */
export function canMount(): boolean {
  const probe = mkdtempSync(join(tmpdir(), 'mocap-uplink-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', probe], { stdio: 'pipe' })
    execFileSync('umount', [probe])
    return true
  } catch {
    return false
  } finally {
    rmdirSync(probe)
  }
}
