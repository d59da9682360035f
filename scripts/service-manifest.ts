// `node scripts/service-manifest.ts`, for the service's image: rewrites package.json in the current folder so that what the
// service needs is a dependency like any other, and `npm ci --omit=dev` installs it in the versions of the lock.

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
