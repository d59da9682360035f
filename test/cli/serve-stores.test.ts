// `serve` on a PostgreSQL server that a file names, and `serve cors` for the bucket that the environment names.

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'

import { newDatabase, queryOnce } from '../helpers/postgres-server.ts'
import { startScriptedBucket } from '../helpers/scripted-bucket.ts'
import { failure } from '../helpers/scripted-s3.ts'
import { installCli, jsonLines } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest
beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

const server = inject('postgres')
describe.skipIf(server === undefined)('--database-url-file', () => {
  it('keeps records and keys in the server that it names, and says its password nowhere', async () => {
    const url = await newDatabase(server!)
    const { username, password, hostname, port, pathname } = new URL(url)
    const file = join(cli.folder, 'database-url')
    await writeFile(file, `${url}\n`, { mode: 0o600 })
    const place = ['--database-url-file', file]
    const made = await cli.run(['serve', 'keys', 'create', ...place, '--org', 'org-4', '--name', 'room', '--json'])
    const [{ key }] = jsonLines(made.stdout) as unknown as [{ key: string }]
    // pg goes to the host of the query, whatever stands before the path.
    const query = `host=${hostname}&port=${port}&user=${username}&password=${password}`
    await writeFile(file, `postgres://elsewhere.example${pathname}?${query}`)

    const serve = cli.start(['serve', '--port', '0', ...place, '--data', join(cli.folder, 'objects'), '--managed-keys'])
    let text = ''
    serve.process.stdout!.on('data', (chunk: string) => (text += chunk))
    await serve.seen(/in PostgreSQL at/)
    const baseUrl = /listens on (\S+)/.exec(text)?.[1] ?? ''
    const called = await cli.run(['segment', 'create', '--movement-type', '1', '--dom-hand', 'RHA'], {
      ...{ MOCAP_BASE_URL: baseUrl, MOCAP_API_KEY: key },
    })
    serve.process.kill('SIGTERM')
    const { code, stdout, stderr } = await serve.ended

    expect([made.code, called.code, code]).toEqual([0, 0, 0])
    expect(stdout).toContain(`It keeps its records in PostgreSQL at ${hostname}\n`)
    expect(await queryOnce(url, 'select owner from player_group_segments')).toEqual([{ owner: 'org-4' }])
    expect(made.stdout + made.stderr + stdout + stderr).not.toContain(password)
  })

  it('is refused when it is not there or holds no such URL, without quoting it', async () => {
    const file = join(cli.folder, 'another-url')
    await writeFile(file, 'mysql://user:pass-word@host/name')
    const wrong = await cli.run(['serve', '--database-url-file', file, '--data', 'd'])
    const missing = await cli.run(['serve', '--database-url-file', `${file}-not`, '--data', 'd'])
    await writeFile(file, 'postgres://user:pass-word@host/name')
    const homeless = await cli.run(['serve', '--database-url-file', file])

    expect([wrong.code, missing.code, homeless.code]).toEqual([2, 2, 2])
    expect(wrong.stderr).toContain('does not hold a URL that begins with postgres://')
    expect(missing.stderr).toContain('--database-url-file')
    expect(homeless.stderr).toContain('name a folder for the objects with --data')
    for (const { stderr } of [wrong, missing, homeless]) expect(stderr).not.toContain('pass-word')
  })
})

describe('serve cors', () => {
  const cors = (env: Record<string, string>, ...origins: readonly string[]) =>
    cli.run(['serve', 'cors', ...origins.flatMap((origin) => ['--origin', origin])], env)

  it('lets pages of the origins send to the bucket and read ETags, once and for all of them', async () => {
    const bucket = await startScriptedBucket()
    onTestFinished(() => bucket.close())
    const env = { S3_BUCKET: 'recordings', S3_ENDPOINT: bucket.origin, S3_ACCESS_KEY: 'ID', S3_SECRET_KEY: 'se-cret' }

    const { code, stdout, stderr } = await cors(env, 'https://app.example', 'https://other.example')

    expect(code).toBe(0)
    expect(stdout + stderr).not.toContain('se-cret')
    expect(stdout).toContain('Pages of https://app.example, https://other.example may send to the bucket recordings')
    const [asked, ...others] = bucket.requests.filter(({ operation }) => operation === 'cors')
    expect(others).toEqual([])
    expect(asked!.url.pathname.replace(/\/$/, '')).toBe('/recordings')
    const rules = asked!.body.toString()
    const listOf = (name: string) => [...rules.matchAll(new RegExp(`<${name}>([^<]*)<`, 'g'))].map(([, text]) => text)
    expect([listOf('AllowedOrigin'), listOf('AllowedMethod'), listOf('AllowedHeader'), listOf('ExposeHeader')]).toEqual(
      [['https://app.example', 'https://other.example'], ['GET', 'PUT'], ['*'], ['ETag', 'Date']],
    )

    bucket.script({ operation: 'cors', nth: 'every', answer: failure(403, 'AccessDenied', '') })
    const refused = await cors(env, '*')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('AccessDenied')])
    expect(refused.stderr).not.toContain('se-cret')
  })

  it('says in its help that rules which the bucket has are lost', async () => {
    const { stdout } = await cli.run(['help', 'serve', 'cors'], {})

    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('in place of all CORS rules that it has')
  })

  it('ends with a result where --json is given, and prints nothing else on stdout', async () => {
    const bucket = await startScriptedBucket()
    onTestFinished(() => bucket.close())
    const env = { S3_BUCKET: 'recordings', S3_ENDPOINT: bucket.origin, S3_ACCESS_KEY: 'ID', S3_SECRET_KEY: 'se-cret' }
    const asJson = (bucketOf: Record<string, string>) =>
      cli.run(['serve', 'cors', '--origin', 'https://app.example', '--json'], bucketOf)

    const done = await asJson(env)
    const refused = await asJson({})

    expect([done.code, refused.code]).toEqual([0, 2])
    expect(jsonLines(done.stdout)).toMatchObject([{ event: 'result', flow: 'serve', status: 'completed' }])
    const error = { code: 'ERR_UPLOAD_INVALID_ARGUMENT' }
    expect(jsonLines(refused.stdout)).toMatchObject([{ event: 'result', flow: 'serve', status: 'failed', error }])
  })

  it.each([
    [{}, 'https://app.example', 'S3_BUCKET is not set'],
    [{ S3_BUCKET: 'recordings' }, 'app.example', 'must be * or an origin'],
    [{ S3_BUCKET: 'recordings' }, 'https://app.example/page', 'must be * or an origin'],
    [{ S3_BUCKET: 'recordings', S3_ACCESS_KEY: 'ID' }, '*', 'Set both S3_ACCESS_KEY and S3_SECRET_KEY'],
    [{ S3_BUCKET: 'b' }, '*', 'error: S3_BUCKET must be a bucket name'],
    [{ S3_BUCKET: 'recordings', S3_ENDPOINT: 'store:9000' }, '*', 'error: S3_ENDPOINT must be an http or https URL'],
  ])('refuses %j with the origin %s', async (env, origin, words) => {
    const { code, stderr } = await cors(env, origin)

    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  it('stops at Ctrl-C while the store does not answer', async () => {
    const store = createServer()
    const asked = once(store, 'request')
    store.listen(0, '127.0.0.1')
    await once(store, 'listening')
    onTestFinished(() => {
      store.close()
      store.closeAllConnections()
    })
    const { port } = store.address() as AddressInfo
    const env = {
      S3_BUCKET: 'recordings',
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_ACCESS_KEY: 'ID',
      S3_SECRET_KEY: 's',
    }
    const command = cli.start(['serve', 'cors', '--origin', '*'], env)
    onTestFinished(() => void command.process.kill('SIGKILL'))
    await asked

    command.process.kill('SIGINT')
    const { code, stderr } = await command.ended

    expect([code, stderr]).toEqual([130, expect.stringContaining('Interrupted by SIGINT.')])
  })

  it('refuses options of serve that have no effect on it', async () => {
    const { code, stderr } = await cli.run(['serve', '--data', 'data', 'cors', '--origin', '*'])

    expect([code, stderr]).toEqual([2, expect.stringContaining('--data has no effect on serve cors: leave it out.')])
  })
})
