// The composition says nothing that the service, its image and its balancer do not know, and holds no secret.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import { parseDuration } from '../../src/cli/options/option-values.ts'
import { optionsOfServe, root, variablesOfServe } from './command-options.ts'

interface Container {
  readonly image: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly string[]
  readonly networks?: readonly string[]
  readonly healthcheck?: object
  readonly restart?: string
  readonly stop_grace_period?: string
  readonly ports?: readonly string[]
}
interface Composition {
  readonly services: Readonly<Record<string, Container>>
  readonly volumes: object
  readonly networks: object
}

const text = readFileSync(join(root, 'compose.yaml'), 'utf8')
const { services, volumes, networks } = parse(text, { merge: true }) as Composition
const all = Object.entries(services)
const copies = all.filter(([, { build, restart }]) => build !== undefined && restart !== undefined)
const ours = all.filter(([, { build }]) => build !== undefined)
const valueOf = (command: readonly string[], option: string) =>
  command.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1) ?? ''

describe('compose.yaml', () => {
  it('has two copies of the service, and a database, a store and a balancer', () => {
    expect(copies.map(([name]) => name)).toEqual(['service-1', 'service-2'])
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining(['balancer', 'postgres', 'store', 'bucket', 'origins']),
    )
  })

  it('pins every image to a version', () => {
    for (const [, { image, build }] of all) if (build === undefined) expect(image).toMatch(/:v?\d+(?:\.\d+)*(?:-\w+)?$/)
  })

  it.each(ours)('%s: sets only variables that the service reads', (_name, { environment = {} }) => {
    expect(Object.keys(environment).length).toBeGreaterThan(5)
    expect(Object.keys(environment).filter((name) => !variablesOfServe().includes(name))).toEqual([])
  })

  it.each(ours)('%s: gives only options that its command has', (_name, { command = [] }) => {
    const [serve, ...words] = command
    const under = words[0]?.startsWith('--') === false ? words.shift() : undefined
    expect(serve).toBe('serve')
    expect(words.length).toBeGreaterThan(1)
    for (const word of words) expect(optionsOfServe(under)).toContain(word.split('=')[0])
  })

  it.each(all)('%s: waits for what is there, mounts and joins what is declared', (name, container) => {
    for (const [other, { condition }] of Object.entries(container.depends_on ?? {})) {
      expect(services).toHaveProperty([other])
      const endsByItself = services[other]!.restart === undefined
      expect(condition).toBe(endsByItself ? 'service_completed_successfully' : 'service_healthy')
      // The image of the service brings its own check.
      if (!endsByItself) expect(services[other]!.healthcheck ?? services[other]!.build, other).toBeDefined()
    }
    for (const volume of container.volumes ?? []) {
      const source = volume.split(':')[0]!
      if (source.startsWith('.')) expect(readFileSync(join(root, source), 'utf8').length, name).toBeGreaterThan(100)
      else expect(volumes).toHaveProperty([source])
    }
    for (const network of container.networks ?? ['none given']) expect(networks).toHaveProperty([network])
  })

  it('takes every secret from the environment, and refuses to start without it', () => {
    const secrets = all.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /PASSWORD|SECRET|(?:ACCESS|_)KEY|TOKEN|DATABASE_URL/.test(name)),
    )
    expect(secrets.length).toBeGreaterThan(8)
    for (const [name, value] of secrets) expect(value, name).toMatch(/\$\{\w+:\?[^}]+\}/)
  })

  it('asks for nothing that the example of its environment does not name, and the other way about', () => {
    const example = readFileSync(join(root, 'deploy/env.example'), 'utf8')
    const asked = [...text.matchAll(/\$\{(\w+):([?-])/g)].map((match) => [match[1]!, match[2] === '?'] as const)
    const named = [...example.matchAll(/^(#?)([A-Z_0-9]+)=/gm)].map((match) => [match[2]!, match[1] === ''] as const)
    const sorted = (pairs: readonly (readonly [string, boolean])[]) => [...new Map(pairs)].sort()

    expect(sorted(named)).toEqual(sorted(asked))
    // Nothing is filled in that somebody could forget to change.
    expect(example).not.toMatch(/^[A-Z_0-9]+=./m)
    expect(readFileSync(join(root, '.gitignore'), 'utf8').split('\n')).toContain('.env')
  })

  it('opens no port to the world by itself', () => {
    const ports = all.flatMap(([, container]) => container.ports ?? [])
    expect(ports.length).toBeGreaterThan(1)
    for (const port of ports) expect(port).toMatch(/^\$\{BIND:-127\.0\.0\.1\}:\d+:\d+$/)
  })
})

describe('the balancer', () => {
  const config = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8')

  it('sends calls to every copy, at the port where it listens, when it says that it is ready', () => {
    const servers = [...config.matchAll(/^ {4}server (\S+) (\S+):(\d+)$/gm)].map((match) => match.slice(1))
    expect(servers).toEqual(copies.map(([name, { command = [] }]) => [name, name, valueOf(command, '--port')]))
    expect(config).toContain('http-check send meth GET uri /readyz')
    expect(config).toContain('deny_status 404 if { path,url_dec /metrics }')
  })

  it('has noticed that a copy stops before it stops, and everything waits for a stop to end', () => {
    const [, interval, fall] = /default-server check inter (\d+s) fall (\d+)/.exec(config) ?? []
    const noticedMs = parseDuration(interval!, 'inter') * Number(fall)
    for (const [, { command = [], stop_grace_period: grace = '' }] of copies) {
      const delayMs = parseDuration(valueOf(command, '--stop-delay'), 'delay')
      const withinMs = parseDuration(valueOf(command, '--stop-within'), 'within')
      expect(noticedMs).toBeLessThan(delayMs)
      expect(delayMs + withinMs).toBeLessThan(parseDuration(grace, 'grace'))
    }
  })

  it('adds the one address that the copies are told to believe', () => {
    expect(config).toContain('option forwardfor')
    for (const [, { command = [] }] of copies)
      expect(valueOf(command, '--trusted-proxies')).toBe('${TRUSTED_PROXIES:-1}')
  })

  it('leaves the database room for all copies', () => {
    const most = Number(/max_connections=(\d+)/.exec(services['postgres']!.command!.join(' '))?.[1])
    const taken = copies.map(([, { command = [] }]) => Number(valueOf(command, '--database-connections')))
    // One more each for the migration and the keys, and the database's own three.
    expect(taken.reduce((sum, one) => sum + one + 2, 3)).toBeLessThanOrEqual(most)
  })
})
