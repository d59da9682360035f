// WebKit, Safari's engine, in its GTK port: Debian's browser and its WebDriver, on a screen that nobody sees.

import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

import { endProcess } from '../../helpers/end-process.ts'
import { freePort } from '../../helpers/free-port.ts'
import type { EnginePage, RunningEngine } from './engines.ts'

/** Sends a command; what it gives, as the standard of WebDriver has it. */
type Command = (method: string, path: string, body?: object) => Promise<never>

interface Outcome {
  readonly value: never
  readonly problem?: string
}

/** How often it is looked whether something is there: WebDriver tells of nothing by itself, ms. */
const LOOK_MS = 20

export async function launchWebkit(): Promise<RunningEngine> {
  const running: ChildProcess[] = []
  const close = async (): Promise<void> => {
    for (const child of running.toReversed()) await endProcess(child)
  }
  try {
    const screen = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    running.push(screen)
    const [display] = (await once(createInterface(screen.stdout), 'line')) as [string]
    const port = await freePort()
    const env = { ...process.env, DISPLAY: `:${display}`, NO_AT_BRIDGE: '1' }
    const driver = spawn('WebKitWebDriver', [`--port=${String(port)}`], { stdio: 'ignore', env })
    running.push(driver)
    const origin = `http://127.0.0.1:${String(port)}`
    await untilItAnswers(driver, `${origin}/status`)
    const session: { sessionId: string; capabilities: { browserVersion: string } } = await commandOf(origin)(
      ...['POST', '/session'],
      { capabilities: { alwaysMatch: { timeouts: { pageLoad: 60_000 } } } },
    )
    const command = commandOf(`${origin}/session/${session.sessionId}`)
    const tabs = createTabs(command)
    return {
      version: `WebKitGTK ${session.capabilities.browserVersion}`,
      async openPage(url) {
        const inTab = await tabs()
        await inTab('POST', '/url', { url })
        return createPage(inTab)
      },
      async close() {
        await command('DELETE', '').catch(() => undefined)
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Each is a window of its own: a page behind another would be hidden. Commands go to one window at a time. */
function createTabs(command: Command): () => Promise<Command> {
  let isFirst = true
  let lastTurn: Promise<unknown> = Promise.resolve()
  return async () => {
    const handle: string = isFirst
      ? await command('GET', '/window')
      : ((await command('POST', '/window/new', { type: 'window' })) as { handle: string }).handle
    isFirst = false
    return (...given) => {
      const turn = lastTurn.then(async () => {
        await command('POST', '/window', { handle })
        return command(...given)
      })
      lastTurn = turn.catch(() => undefined)
      return turn
    }
  }
}

function createPage(command: Command): EnginePage {
  let lastId = 0
  const run = (script: string, ...args: unknown[]): Promise<never> => command('POST', '/execute/sync', { script, args })
  return {
    // A command that waited for the end would hold up all others meanwhile.
    async evaluate(work, given) {
      const id = (lastId += 1)
      await run(
        `const [id, given] = arguments
        globalThis.rigOutcomes ??= {}
        const work = async () => (${String(work)})(given)
        work().then((value) => (rigOutcomes[id] = { value }), (error) => (rigOutcomes[id] = { problem: String(error) }))`,
        ...[id, given ?? null],
      )
      for (;;) {
        const outcome = (await run('return rigOutcomes[arguments[0]] ?? null', id)) as Outcome | null
        if (outcome?.problem !== undefined) throw new Error(outcome.problem)
        if (outcome) return outcome.value
        await wait(LOOK_MS)
      }
    },
    async reload() {
      await command('POST', '/refresh', {})
    },
    async setInputFiles(selector, paths) {
      const found: object = await command('POST', '/element', { using: 'css selector', value: selector })
      // What was picked before stays picked else.
      await run('arguments[0].value = ""', found)
      await command('POST', `/element/${String(Object.values(found)[0])}/value`, { text: paths.join('\n') })
    },
  }
}

async function untilItAnswers(driver: ChildProcess, url: string): Promise<void> {
  while (driver.exitCode === null) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isThere) return
    await wait(LOOK_MS)
  }
  throw new Error('WebKitWebDriver ended before it answered.')
}

function commandOf(base: string): Command {
  return async (method, path, body) => {
    const response = await fetch(base + path, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
    const { value } = (await response.json()) as { value: never }
    if (response.ok) return value
    const { error, message } = value as { error: string; message: string }
    throw new Error(`${method} ${path}: ${error}: ${message}`)
  }
}
