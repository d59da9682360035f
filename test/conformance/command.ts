// `npm run test:service`: the conformance suite against engines that it starts, or against a deployment.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { commandOptions } from '../../scripts/command-options.ts'
import { ENGINES, missingFor, type EngineName } from './engine-needs.ts'

const USAGE = `npm run test:service -- --engine NAME…      on this machine: ${ENGINES.join(', ')} (default: pglite-disk)
npm run test:service -- --base-url URL      a deployment, with MOCAP_API_KEY or MOCAP_ACCESS_TOKEN of the environment;
                                            MOCAP_ORG_ID is the organisation of that key (default: conformance),
                                            MOCAP_OTHER_API_KEY and MOCAP_OTHER_ORG_ID those of another one
`

const { values } = commandOptions(
  USAGE,
  { options: { engine: { type: 'string', multiple: true }, 'base-url': { type: 'string' } } },
  (parsed) => problemOf(parsed.values.engine, parsed.values['base-url']),
)
const baseUrl = values['base-url']
const targets = baseUrl === undefined ? (values.engine ?? ['pglite-disk']).join(',') : 'deployment'
const env = {
  ...process.env,
  MOCAP_TEST_TARGETS: targets,
  ...(baseUrl === undefined ? {} : { MOCAP_BASE_URL: baseUrl }),
}
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.service.config.ts']
const [code] = (await once(spawn(process.execPath, vitest, { stdio: 'inherit', env }), 'exit')) as [number | null]
process.exitCode = code ?? 1

function problemOf(engine: readonly string[] = [], baseUrl?: string): string | undefined {
  const unknown = engine.find((name) => !ENGINES.includes(name as EngineName))
  if (unknown !== undefined) return `There is no engine ${JSON.stringify(unknown)}.`
  if (baseUrl !== undefined && engine.length > 0) return 'Give either --engine or --base-url.'
  if (baseUrl !== undefined && !/^https?:\/\//.test(baseUrl)) return '--base-url must begin with http:// or https://.'
  const { MOCAP_API_KEY, MOCAP_ACCESS_TOKEN } = process.env
  if (baseUrl !== undefined && !MOCAP_API_KEY && !MOCAP_ACCESS_TOKEN) return 'Set MOCAP_API_KEY or MOCAP_ACCESS_TOKEN.'
  const missing = engine.flatMap((name) => missingFor(name as EngineName))
  return missing.length === 0 ? undefined : `Install ${[...new Set(missing)].join(' ')}.`
}
