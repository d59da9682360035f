// Where a program keeps its journals on this platform, unless it is told another place.

import { homedir, userInfo } from 'node:os'
import { posix, win32 } from 'node:path'

import { invalid } from '../../../core/errors.ts'

const NAME = 'mocap-uplink'

/**
 * MOCAP_STATE_DIR if set. Otherwise `$XDG_STATE_HOME/mocap-uplink` (default `~/.local/state`), on macOS
 * `~/Library/Application Support/mocap-uplink`, on Windows `%LOCALAPPDATA%\mocap-uplink\State`. An empty variable
 * counts as not set, and so does a relative HOME or XDG_STATE_HOME, for the latter as its specification asks. The path is
 * absolute. Nothing is created. Throws ERR_UPLOAD_INVALID_ARGUMENT if a folder of the user's is wanted and there is none.
 */
export function stateFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): string {
  const { join, resolve, isAbsolute } = platform === 'win32' ? win32 : posix
  const given = env['MOCAP_STATE_DIR']
  if (given) return resolve(given)
  if (platform === 'win32') {
    return join(env['LOCALAPPDATA'] || join(env['USERPROFILE'] || homedir(), 'AppData', 'Local'), NAME, 'State')
  }
  const stateHome = env['XDG_STATE_HOME']
  if (platform !== 'darwin' && stateHome && isAbsolute(stateHome)) return join(stateHome, NAME)
  const home = homeOf(env['HOME'] ?? '', isAbsolute)
  return platform === 'darwin'
    ? join(home, 'Library', 'Application Support', NAME)
    : join(home, '.local', 'state', NAME)
}

function homeOf(given: string, isAbsolute: (path: string) => boolean): string {
  if (isAbsolute(given)) return given
  try {
    // homedir returns what HOME says, even if that is empty or relative, which would mean wherever the program happens to be started.
    const home = homedir()
    return isAbsolute(home) ? home : userInfo().homedir
  } catch {
    // A user whom the system does not know, as containers and units with a bare user id have one, and HOME is not set.
    return invalid(
      'This user has no home folder to keep sessions in: set MOCAP_STATE_DIR, or name a folder (--state-dir).',
    )
  }
}
