// What pages and frameworks do with the element: they move it to another document, and take back what they gave it.

import { describe, expect, test } from 'vitest'
import { chromiumPath } from './rig/chromium.ts'
import { useElementPages } from './rig/element-page.ts'

describe.skipIf(chromiumPath === undefined)('the element in Chromium, in the hands of a page', () => {
  const { openPage } = useElementPages({})

  test('keeps its looks and its files in another document, such as that of a window of its own, and back', async () => {
    const page = await openPage()
    const seen = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      const frame = document.createElement('iframe')
      document.body.append(frame)
      const lookIn = async (to: Document) => {
        to.body.append(element)
        await new Promise(requestAnimationFrame)
        const title = element.shadowRoot!.querySelector('[part~=summary-title]')!
        return [getComputedStyle(element).display, getComputedStyle(title).fontWeight, title.textContent]
      }
      return [await lookIn(document), await lookIn(frame.contentDocument!), await lookIn(document)]
    })

    const looks = ['block', '600', '1 file ready to upload']
    expect(seen).toEqual([looks, looks, looks])
  })

  test('is drawn in a window of its own also while that of its page is hidden and gets no frames, and when it is back', async () => {
    const page = await openPage()
    const titles = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      const title = element.shadowRoot!.querySelector('[part~=summary-title]')!
      const frame = document.body.appendChild(document.createElement('iframe'))
      const own = frame.contentWindow!
      const { requestAnimationFrame: framesOfPage } = window
      window.requestAnimationFrame = () => 0
      own.document.body.append(element)
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      await new Promise((resolve) => own.requestAnimationFrame(resolve))
      const apart = title.textContent
      // What is to be drawn when the window is closed is drawn in the page.
      element.addFiles([new File(['x'], 'swing-02.mp4')])
      own.stop()
      window.requestAnimationFrame = framesOfPage
      document.body.append(element)
      frame.remove()
      await new Promise(requestAnimationFrame)
      return [apart, title.textContent]
    })

    expect(titles).toEqual(['1 file ready to upload', '2 files ready to upload'])
  })

  test('can be removed where no dialog can be shown or closed, as in jsdom, in which a page tests itself', async () => {
    const page = await openPage()
    const failures = await page.evaluate(() => {
      const { element } = elementRig.showScripted()
      const seen: string[] = []
      window.addEventListener('error', ({ message }) => seen.push(message))
      Reflect.deleteProperty(HTMLDialogElement.prototype, 'close')
      element.remove()
      return seen
    })

    expect(failures).toEqual([])
  })

  test('leaves no Uplink behind when it is gone, nor what its credentials hold: a page shows it at each visit of a view', async () => {
    const page = await openPage()
    await page.evaluate(async () => {
      const element = document.createElement('mocap-uploader')
      element.setAttribute('base-url', location.origin)
      const view = { token: 'one' }
      element.credentials = { accessToken: () => Promise.resolve(view.token) }
      document.body.replaceChildren(element)
      await elementRig.look()
      element.remove()
      Object.assign(globalThis, { leftBehind: new WeakRef(view) })
    })
    const devTools = await page.context().newCDPSession(page)
    const isLeft = async () => {
      await devTools.send('HeapProfiler.collectGarbage')
      return page.evaluate(
        () => (globalThis as unknown as { leftBehind: WeakRef<object> }).leftBehind.deref() !== undefined,
      )
    }

    await expect.poll(isLeft).toBe(false)
  })

  test('leaves nothing that listens to the page when it is gone, except for the one clock that all visits of its view share', async () => {
    const page = await openPage()
    const devTools = await page.context().newCDPSession(page)
    const listenersOn = async (expression: string) => {
      const { result } = await devTools.send('Runtime.evaluate', { expression })
      const { listeners } = await devTools.send('DOMDebugger.getEventListeners', { objectId: result.objectId! })
      return listeners.length
    }
    const listeners = async () => [await listenersOn('window'), await listenersOn('document')]
    const [onWindow = NaN, onDocument = NaN] = await listeners()
    await page.evaluate(async () => {
      for (let visits = 3; visits > 0; visits -= 1) {
        const element = document.createElement('mocap-uploader')
        element.setAttribute('base-url', location.origin)
        element.credentials = { apiKey: 'k' }
        document.body.replaceChildren(element)
        await elementRig.look()
        element.remove()
      }
    })
    const left = async () => {
      await devTools.send('HeapProfiler.collectGarbage')
      await page.evaluate(() => void document.dispatchEvent(new Event('resume')))
      return listeners()
    }

    await expect.poll(left).toEqual([onWindow, onDocument + 1])
  })

  test('takes undefined for what is no longer given, as React sets it', async () => {
    const page = await openPage()
    const titles = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      const titleNow = async () => {
        await new Promise(requestAnimationFrame)
        return element.shadowRoot!.querySelector('[part~=drop-title]')!.textContent
      }
      element.texts = { dropHere: 'Hier ablegen' }
      element.input = { playerId: 'p-17' }
      const own = await titleNow()
      element.texts = element.input = undefined
      return [own, await titleNow(), element.input]
    })

    expect(titles).toEqual(['Hier ablegen', 'Drop your files here', {}])
  })

  test('keeps the English text where a translation lacks it and gives undefined', async () => {
    const page = await openPage()
    const texts = await page.evaluate(() => {
      const element = document.createElement('mocap-uploader')
      const lacking = { pause: undefined, resume: 'Weiter', problems: { network: undefined }, refusals: undefined }
      Reflect.set(element, 'texts', lacking)
      const { pause, resume, problems, refusals } = element.texts
      return [pause, resume, problems.network, refusals.empty]
    })

    expect(texts).toEqual([
      'Pause',
      'Weiter',
      'The connection broke. Check your network, then try again.',
      'the file is empty',
    ])
  })

  test('reads no notice out again where a page sets the same texts each time that it draws itself', async () => {
    const page = await openPage()
    const seen = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      const setTexts = async () => {
        element.texts = { nothingFound: 'Keine Datei dabei' }
        await new Promise(requestAnimationFrame)
      }
      element.addFiles([])
      await setTexts()
      const alert = element.shadowRoot!.querySelector('[role=alert]')!
      let changes = 0
      const watch = new MutationObserver((each) => (changes += each.length))
      watch.observe(alert, { subtree: true, childList: true, characterData: true })
      await setTexts()
      const whenSetAgain = changes
      // The same mistake once more is told once more.
      element.addFiles([])
      await new Promise(requestAnimationFrame)
      return [alert.textContent, whenSetAgain, changes > 0]
    })

    expect(seen).toEqual([expect.stringContaining('Keine Datei dabei'), 0, true])
  })

  test('keeps the order of the files that a page adds, and gives one that has changed its own row', async () => {
    const page = await openPage()
    await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      element.addFiles(['swing-2.mp4', 'swing-1.mp4'].map((name) => new File(['x'], name)))
      await element.start()
      const error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'It has changed.' } as const
      globalThis.scripted.change(0, { state: 'failed', error })
      element.addFiles([new File(['longer'], 'swing-2.mp4')])
    })

    const names = page.locator('mocap-uploader [part~=file-name]')
    await expect.poll(() => names.allTextContents()).toEqual(['swing-2.mp4', 'swing-1.mp4', 'swing-2.mp4'])
  })

  test('takes what a page has set before its class was there, as a framework does that comes first', async () => {
    const page = await openPage()
    const seen = await page.evaluate(async () => {
      const markup = document.createElement('early-uploader')
      const { uplink } = elementRig.scriptedUplink()
      Object.assign(markup, { uplink, input: { playerId: 'p-17' }, texts: { dropHere: 'Hier ablegen' } })
      document.body.replaceChildren(markup)
      customElements.define('early-uploader', class extends customElements.get('mocap-uploader')! {})
      const early = document.querySelector<HTMLElementTagNameMap['mocap-uploader']>('early-uploader')!
      early.addFiles([new File(['x'], 'swing-01.mp4')])
      await early.start()
      early.texts = { ...early.texts, addMore: `${early.texts.dropHere} oder hier` }
      await new Promise(requestAnimationFrame)
      const title = early.shadowRoot!.querySelector('[part~=drop-title]')!.textContent
      return [title, early.phase, early.input]
    })

    expect(seen).toEqual(['Hier ablegen oder hier', 'uploading', { playerId: 'p-17' }])
  })

  test('has whatever name a page gives it, and is registered under it once, however often that is asked', async () => {
    const page = await openPage()
    const phases = await page.evaluate(() => {
      elementRig.defineMocapUploader('team-uploader')
      elementRig.defineMocapUploader('team-uploader')
      elementRig.defineMocapUploader()
      const names = ['team-uploader', 'mocap-uploader'] as 'mocap-uploader'[]
      return names.map((name) => document.createElement(name).phase)
    })

    expect(phases).toEqual(['empty', 'empty'])
  })

  test('pauses and goes on where a page says so, and gives the focus to where files come in', async () => {
    const page = await openPage()
    const phases = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      await element.start()
      element.pause()
      const { phase } = element
      element.resume()
      element.focus()
      return [phase, element.phase]
    })

    expect(phases).toEqual(['paused', 'uploading'])
    expect(await page.evaluate(() => document.activeElement!.shadowRoot!.activeElement!.textContent)).toBe(
      'Choose files',
    )
  })

  test('tries again what failed where a page says so', async () => {
    const page = await openPage()
    const begun = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      const { uplink } = globalThis.scripted
      const { uploadVideos } = uplink
      let begun = 0
      uplink.uploadVideos = (input) => {
        begun += 1
        return Object.assign(uploadVideos(input), { done: () => Promise.reject(new Error('No service answers.')) })
      }
      const ended = new Promise((resolve) => element.addEventListener('mocap-upload-error', resolve, { once: true }))
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      await element.start()
      await ended
      await element.retry()
      return begun
    })

    expect(begun).toBe(2)
  })

  test.each(['base-url', 'credentials'])(
    'says that the page is not set up where it has nothing but %s to upload with, and tells those who run it what to give',
    async (given) => {
      const page = await openPage()
      const errors = await page.evaluate(async (only) => {
        const element = document.createElement('mocap-uploader')
        if (only === 'credentials') element.credentials = { apiKey: 'own' }
        else element.setAttribute('base-url', location.origin)
        const told: string[] = []
        element.addEventListener('mocap-upload-error', ({ detail }) =>
          told.push(detail.error.code, detail.error.message),
        )
        document.body.replaceChildren(element)
        element.addFiles([new File(['x'], 'swing-01.mp4')])
        await element.start()
        return told
      }, given)

      await page.getByRole('alert').getByText('This page is not set up for uploads.').waitFor()
      expect(errors).toEqual(['ERR_UPLOAD_INVALID_ARGUMENT', 'Give uplink or base-url and credentials.'])
    },
  )

  test('names the first of many files that it refuses, and counts the rest', async () => {
    const page = await openPage()
    await page.evaluate(() => {
      const { element } = elementRig.showScripted()
      element.addFiles(Array.from({ length: 8 }, (_, index) => new File(['x'], `notes-${String(index)}.pdf`)))
    })

    const named = page.getByRole('alert').getByRole('listitem')
    await expect.poll(() => named.count()).toBe(6)
    expect(await named.last().textContent()).toBe('and 3 more')
    // A start with nothing to start leaves them to be read.
    await page.evaluate(() => document.querySelector('mocap-uploader')!.start())
    expect(await named.count()).toBe(6)
  })

  test('names what it refuses now, and nothing of what it refused before', async () => {
    const page = await openPage()
    const named = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      for (const name of ['notes-1.pdf', 'notes-2.pdf']) element.addFiles([new File(['x'], name)])
      await new Promise(requestAnimationFrame)
      return [...element.shadowRoot!.querySelectorAll('[role=alert] bdi')].map(({ textContent }) => textContent)
    })

    expect(named).toEqual(['notes-2.pdf'])
  })

  test('takes two captures of one name only where it may rename them, and tells so outside of a shadow root', async () => {
    const page = await openPage()
    const refused = await page.evaluate(() => {
      const heard: string[] = []
      document.addEventListener('mocap-upload-refused', ({ detail }) =>
        heard.push(...detail.files.map((of) => of.reason)),
      )
      const around = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' })
      return [null, 'false', ''].map((rename) => {
        const element = document.createElement('mocap-uploader')
        element.setAttribute('flow', 'capture')
        if (rename !== null) element.setAttribute('rename', rename)
        around.replaceChildren(element)
        element.addFiles(['x', 'xy'].map((bytes) => new File([bytes], 'take-1.action')))
        return heard.splice(0)
      })
    })

    expect(refused).toEqual([['name'], ['name'], []])
  })

  test('offers no folders where the browser has no picker for them', async () => {
    const page = await openPage()
    const isHidden = await page.evaluate(async () => {
      const isHiddenNow = async () => {
        const { element } = elementRig.showScripted()
        await new Promise(requestAnimationFrame)
        return element.shadowRoot!.querySelector<HTMLElement>('[part~=folder-button]')!.hidden
      }
      const before = await isHiddenNow()
      Reflect.deleteProperty(HTMLInputElement.prototype, 'webkitdirectory')
      return [before, await isHiddenNow()]
    })

    expect(isHidden).toEqual([false, true])
  })

  test('leaves a drag without files to the page', async () => {
    const page = await openPage()
    const taken = await page.evaluate(() => {
      const { element } = elementRig.showScripted()
      const isTaken = (dataTransfer: DataTransfer | null): boolean =>
        !element.dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }))
      const [text, files] = [new DataTransfer(), new DataTransfer()]
      text.setData('text/plain', 'swing-01.mp4')
      files.items.add(new File(['x'], 'swing-01.mp4'))
      return [isTaken(text), isTaken(null), isTaken(files)]
    })

    expect(taken).toEqual([false, false, true])
  })

  test('keeps a file that was started since its row was drawn, when its former button is pressed', async () => {
    const page = await openPage()

    const states = await page.evaluate(async () => {
      const { element, list } = elementRig.showScripted()
      const drawn = () => new Promise(requestAnimationFrame)
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      await drawn()
      await element.start()
      list.querySelector('button')!.click()
      await drawn()
      return [...list.querySelectorAll('li')].map(({ dataset }) => dataset['state'])
    })

    expect(states).toEqual(['waiting'])
  })

  test('uploads with the credentials that it was given last', async () => {
    const page = await openPage()
    const keys: (string | undefined)[] = []
    await page.route('**/upload_videos', (route) => {
      keys.push(route.request().headers()['x-api-key'])
      return route.fulfill({ status: 401 })
    })
    await page.evaluate(async () => {
      const element = document.createElement('mocap-uploader')
      element.setAttribute('base-url', location.origin)
      element.input = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
      document.body.replaceChildren(element)
      for (const apiKey of ['first', 'second']) {
        element.credentials = { apiKey }
        const ended = new Promise((resolve) => element.addEventListener('mocap-upload-error', resolve, { once: true }))
        element.addFiles([new File(['x'], `${apiKey}.mp4`)])
        await element.start()
        await ended
      }
    })

    expect(keys).toEqual(['first', 'second'])
  })
})
