// Whether a disk of its own can be made for a test that fills it.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** As root in a container without the right to mount, too, it cannot be tried. */
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
