// The commands that the last line of an upload or an analysis gives: what they say again, and how they are quoted.

import { resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

import type { SharedOptions } from '../../../src/cli/options/options.ts'
import { analysisLine, commandLine, forgetLine, requestLine } from '../../../src/cli/views/command-line.ts'

describe('the command', () => {
  const SENDING: SharedOptions = {
    ...{ concurrency: '8', limitRate: '08:00,512KB 23:00,off', retries: '3', giveUpAfter: '2d', partSize: '8MiB' },
    ...{ background: true, receipt: 'r.json' },
    verify: 'off',
  }

  it('that resumes sends in the way that was asked for', () => {
    expect(commandLine('resume', 'video-1', SENDING, {})).toBe(
      `mocap-uplink resume video-1 --verify off --concurrency 8 --limit-rate '08:00,512KB 23:00,off' --retries 3 ` +
        `--give-up-after 2d --receipt ${resolve('r.json')} --background`,
    )
    expect(commandLine('cancel', 'video-1', SENDING, {})).toBe('mocap-uplink cancel video-1')
  })

  it('says nothing of what is usual', () => {
    const usual = { verify: 'md5', concurrency: 'auto', bearerHeader: 'Authorization' } as const

    expect(commandLine('resume', 'video-1', usual, { HOME: '/home/u' })).toBe('mocap-uplink resume video-1')
  })

  it('says again what the environment said, but for credentials, and what was given goes before it', () => {
    const env = { MOCAP_STATE_DIR: '/s p', MOCAP_BASE_URL: ' https://a.test ', MOCAP_API_KEY: 'secret' }

    expect(commandLine('cancel', 'k', {}, env)).toBe(
      `mocap-uplink cancel k --state-dir '/s p' --base-url https://a.test`,
    )
    expect(commandLine('cancel', 'k', { stateDir: '/t', baseUrl: 'https://b.test' }, env)).toBe(
      'mocap-uplink cancel k --state-dir /t --base-url https://b.test',
    )
    expect(commandLine('cancel', 'k', {}, { MOCAP_STATE_DIR: '', MOCAP_BASE_URL: '' })).toBe('mocap-uplink cancel k')
  })

  it('about an analysis gives the id of the service as one word, whatever stands in it', () => {
    const way = { baseUrl: 'https://a.test', apiKeyFile: '/k', allowHttp: true }

    expect(analysisLine(['watch', '7; rm -r $HOME'], way, {})).toBe(
      `mocap-uplink analysis watch '7; rm -r $HOME' --base-url https://a.test --api-key-file /k --allow-http`,
    )
    expect(analysisLine(['watch', 7], {}, {})).toBe('mocap-uplink analysis watch 7')
    expect(analysisLine(['list'], {}, {})).toBe('mocap-uplink analysis list')
  })

  it.each(['/dev/fd/63', '/proc/self/fd/11', '/dev/stdin'])(
    'names no file that it could not open: %s',
    (apiKeyFile) => {
      expect(commandLine('resume', 'video-1', { apiKeyFile }, {})).toBe('mocap-uplink resume video-1')
    },
  )

  it('goes by npx where it was called so, or by a script of package.json, which finds what no shell does', () => {
    const env = { npm_command: 'exec', npm_lifecycle_event: 'npx' }

    expect(commandLine('resume', 'k', {}, env)).toBe('npx mocap-uplink resume k')
    expect(commandLine('resume', 'k', {}, { npm_lifecycle_event: 'nightly' })).toBe('npx mocap-uplink resume k')
    expect(forgetLine('k', {}, env)).toBe('npx mocap-uplink sessions --forget k')
  })

  it('can be pasted where the folder has a name that no line shows: its bytes are in the command', () => {
    expect(commandLine('cancel', 'k', { stateDir: "/a\nb'\\\u202ec é" }, {})).toBe(
      String.raw`mocap-uplink cancel k --state-dir $'/a\x0ab\'\\\xe2\x80\xaec é'`,
    )
  })

  it('can be pasted where a word begins with =, which zsh would take for a program', () => {
    const line = requestLine({}, { name: '=night', primary: '{}' }, {})

    expect(line).toBe(`mocap-uplink analysis request --name '=night' --primary '{}'`)
  })

  it('can be pasted into cmd.exe, where single quotes are part of a name, and into PowerShell, where a comma makes a list', () => {
    const { platform } = process
    Object.defineProperty(process, 'platform', { value: 'win32' })
    onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
    const line = (words: readonly string[]) => analysisLine(words, {}, {}).slice('mocap-uplink analysis '.length)

    expect(line([String.raw`C:\My keys\night.txt`, '08:00,512KB', "Ana's", '7 & calc', 'https://a.test/v1'])).toBe(
      String.raw`"C:\My keys\night.txt" "08:00,512KB" "Ana's" "7 & calc" https://a.test/v1`,
    )
    expect(line(['D:\\'])).toBe(String.raw`"D:\\"`)
    // Within double quotes these would still mean something there.
    expect(line(['$HOME', '`n', '{"a":1}'])).toBe(`'$HOME' '\`n' '{"a":1}'`)
  })

  it.skipIf(process.platform !== 'linux')('says where the sessions are when XDG_STATE_HOME put them there', () => {
    expect(commandLine('cancel', 'k', {}, { XDG_STATE_HOME: '/x' })).toBe(
      'mocap-uplink cancel k --state-dir /x/mocap-uplink',
    )
  })
})
