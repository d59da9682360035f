// Firefox, driven by WebDriver BiDi: the protocol of its own debugging port, so that nothing but the browser is needed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'undici'

import { endProcess } from '../../helpers/end-process.ts'
import type { EnginePage, RunningEngine } from './engines.ts'

/** Sends a command; what it gives, as the standard of WebDriver BiDi has it. */
type Command = (method: string, params: object) => Promise<never>

/** To a command; what Firefox tells by itself has no id. */
interface Reply {
  readonly id: number
  readonly result: never
  readonly error?: string
  readonly message?: string
}

export async function launchFirefox(): Promise<RunningEngine> {
  const profile = await mkdtemp(join(tmpdir(), 'mocap-uplink-firefox-'))
  const browser = spawn('firefox-esr', ['--headless', '--remote-debugging-port=0', '--profile', profile], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const close = async (): Promise<void> => {
    await endProcess(browser)
    await rm(profile, { recursive: true, force: true })
  }
  try {
    const command = await connect(`${await addressOf(createInterface(browser.stderr))}/session`)
    const { capabilities }: { capabilities: { browserVersion: string } } = await command('session.new', {
      capabilities: {},
    })
    return {
      version: `Firefox ${capabilities.browserVersion}`,
      async openPage(url) {
        const { context }: { context: string } = await command('browsingContext.create', { type: 'tab' })
        await command('browsingContext.navigate', { context, url, wait: 'complete' })
        return createPage(context, command)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Firefox says it among its warnings, once. */
async function addressOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('Firefox ended before it could be driven.')
}

async function connect(url: string): Promise<Command> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, { resolve(result: never): void; reject(error: Error): void }>()
  let lastId = 0
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, message } = JSON.parse(String(data)) as Reply
    const { resolve, reject } = waiting.get(id) ?? {}
    waiting.delete(id)
    if (error === undefined) resolve?.(result)
    else reject?.(new Error(`${error}: ${message ?? ''}`))
  })
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('Firefox has ended.'))
  })
  await once(socket, 'open')
  return (method, params) => {
    const id = (lastId += 1)
    socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }
}

function createPage(context: string, command: Command): EnginePage {
  const target = { context }
  return {
    async evaluate(work, given) {
      const wanted = `async () => JSON.stringify({ value: await (${String(work)})(${JSON.stringify(given)}) })`
      const reply: { result: { value: string }; exceptionDetails?: { text: string } } = await command(
        'script.callFunction',
        { functionDeclaration: wanted, awaitPromise: true, userActivation: true, target },
      )
      if (reply.exceptionDetails) throw new Error(reply.exceptionDetails.text)
      return (JSON.parse(reply.result.value) as { value: never }).value
    },
    async reload() {
      await command('browsingContext.reload', { context, wait: 'complete' })
    },
    async setInputFiles(selector, files) {
      const expression = `document.querySelector(${JSON.stringify(selector)})`
      const { result: element }: { result: object } = await command('script.evaluate', {
        ...{ expression, awaitPromise: false, target },
      })
      await command('input.setFiles', { context, element, files })
    },
  }
}
