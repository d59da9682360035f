// The lock on a data folder whose holder cannot be told from another program.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { lockDataFolder } from '../../../src/service/database/data-lock.ts'

it('that a dead service left says how to get rid of it, where its process id is another program’s by now and no start is known', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'data-lock-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const left = join(folder, 'lock', `${process.ppid}-unknown`)
  await mkdir(join(folder, 'lock'))
  await writeFile(left, '')

  await expect(lockDataFolder(folder)).rejects.toMatchObject({
    code: 'ERR_SERVICE_DATA_IN_USE',
    message:
      `The data folder ${folder} is in use by process ${process.ppid}. Stop that service or choose another folder. ` +
      `If that process is another program, such as after a restart of this machine, delete ${left} and start again.`,
  })
  await rm(left)
  await (await lockDataFolder(folder)).release()
})
