// The browsers beside Chromium that pages are tried in: Firefox, and WebKit, the engine of Safari. Both as Debian has them.

import { existsSync } from 'node:fs'

import { launchFirefox } from './firefox.ts'
import { launchWebkit } from './webkit.ts'

/** A tab, with those of Playwright's verbs that its driver has. */
export interface EnginePage {
  /** The outcome of `work` in the page, by way of JSON. */
  evaluate<Result, Given = undefined>(work: (given: Given) => Result | Promise<Result>, given?: Given): Promise<Result>
  reload(): Promise<void>
  /** Picks files in the `<input>`, as a person does: those of the disk, not copies. */
  setInputFiles(selector: string, paths: readonly string[]): Promise<void>
}

export interface RunningEngine {
  /** Name and version, as the browser says them. */
  readonly version: string
  /** In the one profile of this browser, which is gone when it is closed. */
  openPage(url: string): Promise<EnginePage>
  close(): Promise<void>
}

export interface Engine {
  readonly name: string
  /** What to install; undefined when it can be started. */
  readonly lack: string | undefined
  launch(): Promise<RunningEngine>
}

/** Program → the Debian package that has it. */
const PACKAGES: Readonly<Record<string, string>> = { WebKitWebDriver: 'webkit2gtk-driver', Xvfb: 'xvfb' }

export const engines: readonly Engine[] = [
  { name: 'Firefox', lack: lackOf('firefox-esr'), launch: launchFirefox },
  { name: 'WebKit', lack: lackOf('WebKitWebDriver', 'Xvfb'), launch: launchWebkit },
]

function lackOf(...programs: readonly string[]): string | undefined {
  const missing = programs.filter((program) => !existsSync(`/usr/bin/${program}`))
  if (missing.length === 0) return undefined
  return `Install ${missing.map((program) => PACKAGES[program] ?? program).join(' ')} (apt).`
}
