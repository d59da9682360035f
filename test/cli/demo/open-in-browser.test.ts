// The page of the demo in a person's browser.

import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'

import { openInBrowser } from '../../../src/cli/open-in-browser.ts'

it.runIf(process.platform !== 'win32')(
  'is opened on Windows by no program that only has the name of its own',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-browser-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const called = join(folder, 'called')
    // Where Windows would look in the current folder, this system looks in PATH.
    for (const name of ['rundll32', 'rundll32.exe'])
      await writeFile(join(folder, name), `#!/bin/sh\n: > "${called}"\n`, { mode: 0o700 })
    vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`)

    expect(await openInBrowser('http://127.0.0.1:1/', {}, 'win32')).toBe(false)
    await expect(access(called)).rejects.toMatchObject({ code: 'ENOENT' })
  },
)
