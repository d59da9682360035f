// `node scripts/service-manifest.ts`, for the service's image. Rewrites package.json in the current folder so that the
// packages that the service needs are ordinary dependencies, which `npm ci --omit=dev` then installs in their locked versions.

import { readFileSync, writeFileSync } from 'node:fs'

import { SERVICE_PEERS } from '../src/service/peers.ts'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const needed = new Set<string>(Object.values(SERVICE_PEERS).flat())
const listed = Object.entries(manifest.devDependencies)
const [taken, left] = [true, false].map((isNeeded) => listed.filter(([name]) => needed.has(name) === isNeeded))
const missing = [...needed].filter((name) => manifest.devDependencies[name] === undefined)
if (missing.length > 0) throw new Error(`package.json has no development dependency ${missing.join(', ')}.`)
const dependencies = { ...manifest.dependencies, ...Object.fromEntries(taken ?? []) }
const image = { ...manifest, dependencies, devDependencies: Object.fromEntries(left ?? []) }
writeFileSync('package.json', `${JSON.stringify(image, undefined, 2)}\n`)
