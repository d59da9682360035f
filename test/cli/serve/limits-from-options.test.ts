// The limits of `serve`: option before environment before the service's own default, and each by its name.

import { expect, it } from 'vitest'

import { limitsFromOptions } from '../../../src/cli/serve/limits-from-options.ts'
import { serveSettings } from '../../../src/cli/serve/serve-settings.ts'

const ENVIRONMENT = {
  ...{ MOCAP_CALLS_PER_MINUTE: '1', MOCAP_REFUSALS_PER_MINUTE: '2', MOCAP_MAX_OPEN_SESSIONS: '3' },
  ...{ MOCAP_MAX_FILES: '4', MOCAP_MAX_NAMES: '5', MOCAP_MAX_BODY: '6MiB', MOCAP_TRUSTED_PROXIES: '7' },
}

it('takes each from the environment', () => {
  expect(limitsFromOptions({}, ENVIRONMENT)).toEqual({
    limits: {
      ...{ callsPerMinute: 1, refusalsPerMinute: 2, openSessions: 3 },
      ...{ filesPerSession: 4, namesPerCall: 5, bodyBytes: 6 * 1024 ** 2 },
    },
    trustedProxies: 7,
  })
})

it('takes options before it, and leaves what neither says to the service', () => {
  const options = { callsPerMinute: '0', maxBody: '2KiB', trustedProxies: '1' }

  expect(limitsFromOptions(options, ENVIRONMENT)).toMatchObject({
    ...{ limits: { callsPerMinute: 0, refusalsPerMinute: 2, bodyBytes: 2048 }, trustedProxies: 1 },
  })
  expect(limitsFromOptions({ maxNames: '9' }, { MOCAP_MAX_FILES: '' })).toEqual({ limits: { namesPerCall: 9 } })
})

it.each([
  [{ callsPerMinute: 'many' }, {}, '--calls-per-minute is "many"'],
  [{}, { MOCAP_MAX_FILES: '-1' }, 'MOCAP_MAX_FILES is "-1"'],
  [{ maxBody: '16 potatoes' }, {}, '--max-body'],
])('refuses %j with %j by the name that was used', (options, env, words) => {
  expect(() => limitsFromOptions(options, env)).toThrow(words)
})

it('names the option whose value the service would not take', async () => {
  const defaults = { port: '0', host: '127.0.0.1', addressLife: '1h' }
  const options = { ...defaults, stopWithin: '30s', endSessionsAfter: '7d', maxFiles: '0' }

  await expect(serveSettings(options, {})).rejects.toThrow('--max-files must be an integer from 1 to 100000')
})
