// The page of `mocap-uplink serve`: the element, and a live view of what this service holds. It asks for the key once.

import { createUplink, type BrowserUplink } from '../browser.ts'
import { isUploadError } from '../core/errors.ts'
import type { OnWaiting } from '../core/ports.ts'
import { setText } from '../element/build-element.ts'
import { defineMocapUploader } from '../element/uploader-element.ts'
import { MOST_PAGES, readHoldings } from './holdings.ts'
import { byId, createLists } from './lists.ts'
import { forgetKey, hasKey, keepKey, takeKey } from './service-key.ts'

/** Least time between two looks at what the service holds, ms. A hidden page does not look. */
const LOOK_EVERY_MS = 2_000
/** A look at many files takes long. The page then waits this many times as long, and leaves the service to its work. */
const WAIT_PER_LOOK = 9
/** How long a call may go unanswered before the page says so, ms. The client retries for longer, and the page would look live. */
const SILENT_AFTER_MS = 4_000
const NO_ANSWER = 'The service does not answer.'
const UNHEARD = new Set<string>(['ERR_UPLOAD_NETWORK', 'ERR_UPLOAD_TIMEOUT', 'ERR_UPLOAD_HOST_UNREACHABLE'])

defineMocapUploader()
const lists = createLists()
const ask = byId('ask') as HTMLFormElement
const about = byId('about') as HTMLFormElement
/** One element for each flow, because videos and tracking files do not go into one upload. */
const uploaders = document.querySelectorAll('mocap-uploader')

about.querySelector('[name=date]')?.setAttribute('value', new Date().toLocaleDateString('sv'))
about.addEventListener('input', tellUploaders)
ask.addEventListener('submit', (event) => {
  event.preventDefault()
  const key = textOf(new FormData(ask), 'key')
  ask.reset()
  keepKey(key)
  open(key)
  // With the form goes the focus, which would fall to the top of the page.
  document.querySelector<HTMLElement>('mocap-uploader:not([hidden])')?.focus()
})
tellUploaders()
// A key that is pasted into the address bar of this page loads nothing by itself, and would stay there to be seen.
addEventListener('hashchange', () => {
  if (hasKey()) location.reload()
})
const key = takeKey()
if (key === undefined) askForKey('')
else open(key)

function askForKey(refusal: string): void {
  ask.hidden = false
  byId('opened').hidden = true
  tell('')
  byId('refusal').textContent = refusal
  ask.querySelector('input')?.focus()
}

function open(apiKey: string): void {
  let uplink: BrowserUplink
  try {
    // The folder of this page, which a proxy in front may have below a path of its own.
    const baseUrl = new URL('.', location.href).href
    uplink = createUplink({ baseUrl, credentials: { apiKey }, isHttpAllowed: true })
  } catch (error) {
    forgetKey()
    askForKey(messageOf(error))
    return
  }
  ask.hidden = true
  byId('opened').hidden = false
  for (const uploader of uploaders) uploader.uplink = uplink
  void watch(uplink)
}

/** Looks again and again. Ends when the key is refused. */
async function watch(uplink: BrowserUplink): Promise<void> {
  let isTroubleTold = false
  // The first look takes the newest files only, so that there is soon something to see.
  let mostPages = 1
  for (;;) {
    let waitMs = LOOK_EVERY_MS
    if (!document.hidden) {
      let silent: ReturnType<typeof setTimeout> | undefined
      let trouble = NO_ANSWER
      const onAnswer = (): void => {
        trouble = NO_ANSWER
        clearTimeout(silent)
        silent = setTimeout(() => {
          // A message stays until the service answers. Two messages in turn would look like two problems.
          if (!isTroubleTold) tell(trouble)
        }, SILENT_AFTER_MS)
      }
      const onWaiting: OnWaiting = (wait) => {
        if (!wait) return
        trouble = wait.status ? `The service is not available (${wait.status}).` : NO_ANSWER
      }
      onAnswer()
      try {
        const since = performance.now()
        const holdings = await readHoldings(uplink.client, mostPages, { onAnswer, onWaiting })
        lists.draw(holdings)
        tell('live')
        const isFirst = mostPages === 1
        waitMs = isFirst && holdings.hasOlderFiles ? 0 : Math.max(waitMs, WAIT_PER_LOOK * (performance.now() - since))
        mostPages = MOST_PAGES
        isTroubleTold = false
      } catch (error) {
        if (isUploadError(error) && error.code === 'ERR_UPLOAD_CREDENTIALS_REFUSED') {
          forgetKey()
          askForKey('The service refused this key.')
          return
        }
        tell(isUploadError(error) && UNHEARD.has(error.code) ? trouble : messageOf(error))
        isTroubleTold = true
      } finally {
        clearTimeout(silent)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

function tell(news: string): void {
  setText(byId('news'), news)
}

/** Gives the elements the fields above them as the input of their uploads, and hides what belongs to the other flow. */
function tellUploaders(): void {
  const fields = new FormData(about)
  const text = (name: string): string => textOf(fields, name)
  const sessionDate = text('date')
  for (const part of document.querySelectorAll<HTMLElement>('[data-flow]')) {
    part.hidden = part.dataset['flow'] !== text('flow')
  }
  for (const uploader of uploaders) {
    uploader.input =
      uploader.getAttribute('flow') === 'video'
        ? { movementTypeId: 1, playerId: text('player'), sessionDate, sessionTypeId: 2, frameRate: 240 }
        : { orgId: text('org'), mocapTypeId: 2, sessionTypeId: 1, sessionDate, kind: 'tracking' }
  }
}

function textOf(fields: FormData, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
