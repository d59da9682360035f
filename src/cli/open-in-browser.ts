// Opens a URL in the person's browser, by the platform's own command.

import { spawn } from 'node:child_process'
import { win32 } from 'node:path'
import type { Environment } from './options/credentials-from-options.ts'

/** Resolves with false if no browser opens: there is no desktop, or the platform's command is missing or failed. */
export function openInBrowser(url: string, env: Environment, platform = process.platform): Promise<boolean> {
  const command = commandFor(url, env, platform)
  if (command === undefined) return Promise.resolve(false)
  const [program, ...args] = command
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true, windowsHide: true })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
    // If no browser was running, the command may itself become the browser, and ends only with that.
    const timer = setTimeout(() => resolve(true), OPENED_AFTER_MS)
    timer.unref()
    child.unref()
  })
}

const OPENED_AFTER_MS = 3_000

function commandFor(
  url: string,
  env: Environment,
  platform: NodeJS.Platform,
): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open', url]
  if (platform === 'win32') {
    // By its absolute path: a bare name would be looked for in the current folder first, which may be anybody's.
    const program = win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'rundll32.exe')
    return [program, 'url.dll,FileProtocolHandler', url]
  }
  // Without a desktop, xdg-open would start a text browser in our terminal.
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open', url] : undefined
}
