import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'

import { stateFolder } from '../../../../src/adapters/node/journal/state-folder.ts'

describe('stateFolder', () => {
  it.each([
    ['Linux', 'linux', { HOME: '/home/ana' }, '/home/ana/.local/state/mocap-uplink'],
    ['Linux with XDG', 'linux', { HOME: '/home/ana', XDG_STATE_HOME: '/var/s' }, '/var/s/mocap-uplink'],
    ['a relative XDG', 'linux', { HOME: '/home/ana', XDG_STATE_HOME: 's' }, '/home/ana/.local/state/mocap-uplink'],
    ['an empty XDG', 'linux', { HOME: '/home/ana', XDG_STATE_HOME: '' }, '/home/ana/.local/state/mocap-uplink'],
    ['macOS', 'darwin', { HOME: '/Users/ana' }, '/Users/ana/Library/Application Support/mocap-uplink'],
    ['macOS with XDG', 'darwin', { HOME: '/U', XDG_STATE_HOME: '/x' }, '/U/Library/Application Support/mocap-uplink'],
    ['Windows', 'win32', { LOCALAPPDATA: 'C:\\Users\\ana\\Local' }, 'C:\\Users\\ana\\Local\\mocap-uplink\\State'],
    ['a bare Windows', 'win32', { USERPROFILE: 'C:\\U' }, 'C:\\U\\AppData\\Local\\mocap-uplink\\State'],
  ] as const)('knows the place of %s', (_, platform, env, expected) => {
    expect(stateFolder(env, platform)).toBe(expected)
  })

  it.each([
    ['linux', { MOCAP_STATE_DIR: '/mnt/state', XDG_STATE_HOME: '/x', HOME: '/h' }, '/mnt/state'],
    ['darwin', { MOCAP_STATE_DIR: '/mnt/state', HOME: '/h' }, '/mnt/state'],
    ['win32', { MOCAP_STATE_DIR: 'D:\\state', LOCALAPPDATA: 'C:\\L' }, 'D:\\state'],
  ] as const)('is MOCAP_STATE_DIR where that is set (%s)', (platform, env, expected) => {
    expect(stateFolder(env, platform)).toBe(expected)
  })

  it('makes MOCAP_STATE_DIR absolute, and takes an empty one as not set', () => {
    expect(stateFolder({ MOCAP_STATE_DIR: 'here' }, 'linux')).toBe(join(process.cwd(), 'here'))
    expect(stateFolder({ MOCAP_STATE_DIR: '', HOME: '/h' }, 'linux')).toBe('/h/.local/state/mocap-uplink')
  })

  it.each(['', 'home', './h'])('is no relative path where HOME is %j', (home) => {
    vi.stubEnv('HOME', home)
    expect(stateFolder({ HOME: home }, 'linux')).toBe(join(userInfo().homedir, '.local/state/mocap-uplink'))
    vi.unstubAllEnvs()
  })

  it('asks the system for the home folder when the environment does not say it', () => {
    expect(stateFolder({}, 'linux')).toBe(join(homedir(), '.local/state/mocap-uplink'))
  })
})
