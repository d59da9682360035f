// Keys that the AWS SDK finds by itself and that expire, as the role of a machine gives them: now and then there are none for a while.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished, vi } from 'vitest'

import { startScriptedBucket } from '../../helpers/scripted-bucket.ts'
import { openCaptureSession, startUnderTest } from '../service-under-test.ts'

/** A service that asks for its keys before each use, and what says whether it gets some. */
async function startWithPassingKeys() {
  const folder = await mkdtemp(join(tmpdir(), 'service-keys-'))
  const [config, program, answer] = ['config', 'keys.mjs', 'answer.json'].map((name) => join(folder, name))
  await writeFile(config!, `[default]\ncredential_process = "${process.execPath}" "${program!}"\n`)
  const path = JSON.stringify(answer!)
  await writeFile(program!, `import fs from 'node:fs'\nprocess.stdout.write(fs.readFileSync(${path}))\n`)
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE']) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.stubEnv('AWS_CONFIG_FILE', config)
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'))
  const bucket = await startScriptedBucket()
  const service = await startUnderTest({ s3: { endpoint: bucket.origin, bucket: 'recordings' } })
  onTestFinished(async () => {
    await service.close()
    await bucket.close()
    await rm(folder, { recursive: true })
  })
  return {
    service,
    /** The SDK asks anew where less than five minutes are left. */
    give: () => {
      const keys = { AccessKeyId: 'TEMPORARY', SecretAccessKey: 'a-secret', SessionToken: 'a-token' }
      return writeFile(answer!, JSON.stringify({ Version: 1, ...keys, Expiration: new Date(Date.now() + 60_000) }))
    },
    take: () => rm(answer!),
  }
}

it('lets nothing be registered while there are none to sign addresses with: the same call is taken later', async () => {
  const { service, give, take } = await startWithPassingKeys()
  const body = { session_id: await openCaptureSession(service), filenames: ['a.action'] }
  const register = () => service.call('POST', '/mocap_session_file', body)
  await give()
  await take()

  const refused = await register()
  await give()
  const taken = await register()

  expect([refused.status, refused.json]).toMatchObject([503, { error: { code: 'storage_unavailable' } }])
  expect([taken.status, taken.text]).toMatchObject([200, expect.stringContaining('TEMPORARY')])
})
