// The image is built from what there is, starts the real command, and holds the packages that the service asks for.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'

import { SERVICE_PEERS } from '../../src/service/peers.ts'
import { optionsOfServe, root } from './command-options.ts'

const lines = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const rest = (word: string) =>
  lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1).trim())
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>

describe('the Dockerfile', () => {
  it('begins every stage with a base of a fixed major version', () => {
    expect(rest('FROM').length).toBeGreaterThan(1)
    for (const from of rest('FROM')) expect(from).toMatch(/^node:\d+-bookworm-slim(?: AS \w+)?$/)
  })

  it('copies what is there, and what .dockerignore lets in', () => {
    const allowed = readFileSync(join(root, '.dockerignore'), 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
    const sources = rest('COPY').filter((copy) => !copy.startsWith('--from='))
    const copied = sources.flatMap((copy) => copy.split(/\s+/).slice(0, -1))

    expect(copied.length).toBeGreaterThan(5)
    for (const source of copied) {
      expect(existsSync(join(root, source)), source).toBe(true)
      expect(
        allowed.some((entry) => source === entry || source.startsWith(`${entry}/`)),
        source,
      ).toBe(true)
    }
    for (const entry of allowed) expect(existsSync(join(root, entry)), entry).toBe(true)
  })

  it('takes over from a stage only what an earlier step of it made', () => {
    const stages = rest('FROM').flatMap((from) => from.split(' AS ')[1] ?? [])
    const taken = rest('COPY').flatMap((copy) => /^--from=(\w+)/.exec(copy)?.[1] ?? [])

    expect(taken.length).toBeGreaterThan(2)
    for (const stage of taken) expect(stages).toContain(stage)
  })

  it('copies all that the script of its packages needs, which then makes the service’s peers dependencies', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'image-test-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const stage = lines.slice(lines.findIndex((line) => line.endsWith(' AS packages')))
    for (const copy of stage.filter((line) => line.startsWith('COPY ')).slice(0, 3)) {
      const words = copy.split(/\s+/).slice(1)
      const into = join(folder, words.pop()!)
      for (const source of words) await cp(join(root, source), join(into, basename(source)))
    }
    // Node 24, which the image has, runs the script as it is.
    const script = join(folder, 'made.mjs')
    const entryPoints = [join(folder, 'scripts/service-manifest.ts')]
    await build({ entryPoints, bundle: true, platform: 'node', format: 'esm', outfile: script, logLevel: 'silent' })

    expect(spawnSync(process.execPath, [script], { cwd: folder }).status).toBe(0)

    const made = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as typeof manifest
    for (const name of Object.values(SERVICE_PEERS).flat()) expect(made['dependencies']).toHaveProperty([name])
    expect(Object.keys(made['dependencies']!)).not.toContain('vitest')
  })

  it('runs as a user that is not root, and holds no secret', () => {
    expect(rest('USER')).toEqual(['node'])
    expect(lines.findIndex((line) => line.startsWith('USER'))).toBeLessThan(
      lines.findIndex((line) => line.startsWith('ENTRYPOINT')),
    )
    expect(rest('ARG')).toEqual([])
    expect(rest('ENV')).toEqual(['NODE_ENV=production'])
  })

  it('starts the built command with options that it has', () => {
    const [entry] = rest('ENTRYPOINT').map((list) => JSON.parse(list) as string[])
    const [command] = rest('CMD').map((list) => JSON.parse(list) as string[])

    expect(entry).toEqual(['node', `/app/${String(manifest['bin']?.['mocap-uplink']).replace('./', '')}`])
    expect(command?.[0]).toBe('serve')
    for (const option of command!.filter((word) => word.startsWith('--'))) expect(optionsOfServe()).toContain(option)
    expect(command!.slice(3, 5)).toEqual(['--port', rest('EXPOSE')[0]])
  })

  it('has a health check that passes on 200 and on nothing else', async () => {
    const [, check = ''] = /CMD (\[.*\])$/.exec(rest('HEALTHCHECK')[0] ?? '') ?? []
    const [program, ...args] = JSON.parse(check) as string[]
    expect(program).toBe('node')
    let status = 200
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/healthz' ? status : 404).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const outcome = async () => {
      const here = args.map((text) => text.replace(`:${rest('EXPOSE')[0]!}/`, `:${String(port)}/`))
      const [code] = (await once(spawn(process.execPath, here, { stdio: 'ignore' }), 'close')) as [number]
      return code
    }

    const healthy = await outcome()
    status = 503
    const sick = await outcome()
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
    const gone = await outcome()

    expect([healthy, sick, gone]).toEqual([0, 1, 1])
  })
})

describe('the packages of the service', () => {
  it.each([...new Set(Object.values(SERVICE_PEERS).flat())])('%s is a peer, optional, and installed here', (name) => {
    expect(manifest['peerDependencies']).toHaveProperty([name])
    expect(manifest['peerDependenciesMeta']).toHaveProperty([name], { optional: true })
    expect(manifest['devDependencies']).toHaveProperty([name])
  })

  it('are all that the sources of the service import, beside what the build bundles', () => {
    const bundled = ['nanotar']
    const installed = [...Object.values(SERVICE_PEERS).flat(), ...Object.keys(manifest['dependencies']!)]
    const known = new Set([...installed, ...bundled])
    const { stdout } = spawnSync('grep', ['-rhoE', "(from|import\\() ?'[^.'][^']*'", 'src/service'], { cwd: root })
    // Without a path inside the package.
    const imported = [...String(stdout).matchAll(/'((?:@[^'/]+\/)?[^'/]+)[^']*'/g)].map((match) => match[1]!)

    expect(imported.length).toBeGreaterThan(20)
    expect(imported.filter((name) => !name.startsWith('node:') && !known.has(name as never))).toEqual([])
  })
})
