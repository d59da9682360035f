// A user whom the system does not know, as containers and units with a bare user id have one: nothing says where its home is.

import { expect, it, vi } from 'vitest'

import { stateFolder } from '../../../../src/adapters/node/journal/state-folder.ts'
import { commandLine } from '../../../../src/cli/views/command-line.ts'

vi.mock('node:os', async (original) => {
  const unknown = () => {
    throw new Error('uv_os_homedir returned ENOENT')
  }
  return { ...(await original<object>()), homedir: unknown, userInfo: unknown }
})

it('keeps its sessions where the environment says', () => {
  expect(stateFolder({ MOCAP_STATE_DIR: '/s' }, 'linux')).toBe('/s')
  expect(stateFolder({ XDG_STATE_HOME: '/x' }, 'linux')).toBe('/x/mocap-uplink')
  expect(stateFolder({ HOME: '/h' }, 'linux')).toBe('/h/.local/state/mocap-uplink')
})

it('is told what to give where nothing says it', () => {
  expect(() => stateFolder({}, 'linux')).toThrow(/no home folder to keep sessions in: set MOCAP_STATE_DIR/)
})

it('is told how to go on with the folder that it named', () => {
  expect(commandLine('resume', 'video-1', {}, { MOCAP_STATE_DIR: '/s' })).toBe(
    'mocap-uplink resume video-1 --state-dir /s',
  )
})
