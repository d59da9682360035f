// Where a program keeps its journals on this platform, unless it is told another place.

import { homedir, userInfo } from 'node:os'
import { posix, win32 } from 'node:path'

const NAME = 'mocap-uplink'

/**
 * MOCAP_STATE_DIR if set. Otherwise `$XDG_STATE_HOME/mocap-uplink` (default `~/.local/state`), on macOS
 * `~/Library/Application Support/mocap-uplink`, on Windows `%LOCALAPPDATA%\mocap-uplink\State`. An empty variable
 * counts as not set, and so does a relative HOME or XDG_STATE_HOME, for the latter as its specification asks. The path is
 * absolute. Nothing is created.
 */
export function stateFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const { join, resolve, isAbsolute } = platform === 'win32' ? win32 : posix
  const given = env['MOCAP_STATE_DIR']
  if (given) return resolve(given)
  if (platform === 'win32') {
    return join(env['LOCALAPPDATA'] || join(env['USERPROFILE'] || homedir(), 'AppData', 'Local'), NAME, 'State')
  }
  // homedir returns what HOME says, even if that is empty or relative, which would mean wherever the program happens to be started.
  const home = [env['HOME'] ?? '', homedir()].find(isAbsolute) ?? userInfo().homedir
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', NAME)
  const stateHome = env['XDG_STATE_HOME']
  return join(stateHome && isAbsolute(stateHome) ? stateHome : join(home, '.local', 'state'), NAME)
}
