// The command's patience with V8's compiler: only flags that this very V8 knows, because others are complained of on stderr.

import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { patientFlags } from '../../src/cli/patient-compiler.ts'

const facts = (v8: string, more: object = {}) => ({ versions: { v8 }, execArgv: [], env: {}, ...more }) as never

it.each([
  ['Node 20', '11.3.244.8-node.38', { patient: '--interrupt-budget=400000', own: '--interrupt-budget=67584' }],
  [
    'Node 22',
    '12.4.254.21-node.57',
    { patient: '--invocation-count-for-turbofan=12000', own: '--invocation-count-for-turbofan=3000' },
  ],
  ['Node 24', '13.6.233.17-node.53', undefined],
])('%s is given what its V8 knows', (_which, v8, flags) => {
  expect(patientFlags(facts(v8))).toEqual(flags)
})

it.each([
  ['Bun, which names a V8', { versions: { v8: '12.4.254', bun: '1.2.3' } }],
  ['Electron, which freezes its flags', { versions: { v8: '12.4.254', electron: '31.0.0' } }],
  ['who started the process with another', { execArgv: ['--invocation_count_for_turbofan=5'] }],
])('%s is left alone', (_who, more) => {
  expect(patientFlags(facts('12.4.254', more))).toBe(undefined)
})

const ownFlags = patientFlags(process)
it.skipIf(ownFlags === undefined)('are taken by the V8 of this process without a word', () => {
  const set = Object.values(ownFlags ?? {}).map((flag) => `setFlagsFromString(${JSON.stringify(flag)});`)
  const program = `const { setFlagsFromString } = require('node:v8'); ${set.join(' ')} console.log('done')`

  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })

  expect([stdout, stderr]).toEqual(['done\n', ''])
})

it.skipIf(ownFlags === undefined)('end with the value that this V8 has by itself', () => {
  const [flag = '', value] = (ownFlags?.own ?? '').split('=')

  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })

  expect(stdout).toContain(`default: ${flag}=${value}\n`)
})
