// A React page in StrictMode: one upload seen by two components, of which one comes and goes. An effect begins the
// upload, and StrictMode runs it twice.

import { createElement, Fragment, StrictMode, useEffect, useState, type ReactNode } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server.browser'
import '../../../src/element/define.ts'
import { blobSource, createUplink } from '../../../src/browser.ts'
import { createUploadStore, useUpload } from '../../../src/react.ts'

interface Settings {
  readonly baseUrl: string
  readonly apiKey: string
}

const seen = { renders: 0, events: 0, begun: 0, frames: 0 }
const store = createUploadStore()

function App({ settings, files }: { readonly settings: Settings; readonly files: readonly File[] }) {
  const [isDetailOpen, setDetailOpen] = useState(true)
  const { state, progress, files: rows, error, start, pause, resume, cancel } = useUpload(store)
  useEffect(() => {
    start(() => {
      seen.begun += 1
      const upload = createUplink({ baseUrl: settings.baseUrl, credentials: { apiKey: settings.apiKey } }).uploadVideos(
        {
          files: files.map((file) => ({ source: blobSource(file) })),
          ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
        },
      )
      for (const name of ['state', 'progress', 'file'] as const) upload.on(name, () => (seen.events += 1))
      return upload
    })
  }, [])
  return createElement(
    Fragment,
    null,
    createElement('output', { id: 'state' }, state),
    createElement('output', { id: 'confirmed' }, progress.filesConfirmed),
    createElement('output', { id: 'rows' }, rows.map((row) => `${row.name} ${row.state}`).join(', ')),
    createElement('output', { id: 'error' }, error?.message),
    createElement('button', { id: 'pause', onClick: pause }, 'Pause'),
    createElement('button', { id: 'resume', onClick: resume }, 'Resume'),
    createElement('button', { id: 'cancel', onClick: cancel }, 'Cancel'),
    createElement('button', { id: 'toggle', onClick: () => setDetailOpen((is) => !is) }, 'Details'),
    isDetailOpen ? createElement(Detail) : null,
  )
}

function Detail() {
  seen.renders += 1
  return createElement('output', { id: 'detail' }, useUpload(store).state)
}

function Idle() {
  const { state, start } = useUpload()
  return createElement('button', { onClick: () => start(() => new Promise(() => undefined)) }, state)
}

/** The element with an input, given as a property or by a ref. `onAlive` is called once React has done all it does with it. */
function Tag({ by, onAlive }: { readonly by: 'property' | 'ref'; readonly onAlive: () => void }) {
  const input = { playerId: 'p-17' }
  const set = (element: HTMLElementTagNameMap['mocap-uploader'] | null): void => {
    if (element) element.input = input
  }
  useEffect(onAlive, [])
  const given: object = by === 'ref' ? { ref: set } : { input }
  return createElement('mocap-uploader', given)
}

/** Renders as a server does, and then makes that alive. */
function hydrate(node: ReactNode): HTMLElement {
  const place = document.body.appendChild(document.createElement('main'))
  const whole = createElement(StrictMode, null, node)
  place.innerHTML = renderToString(whole)
  hydrateRoot(place, whole)
  return place
}

function countFrames(): void {
  seen.frames += 1
  requestAnimationFrame(countFrames)
}

const reactRig = {
  seen,
  /** The input that an element has in a page that was rendered there or on a server. */
  async inputOf(by: 'property' | 'ref', where: 'page' | 'server'): Promise<unknown> {
    let place = document.body.appendChild(document.createElement('main'))
    await new Promise<void>((resolve) => {
      const tag = createElement(Tag, { by, onAlive: () => resolve() })
      if (where === 'server') place = hydrate(tag)
      else createRoot(place).render(createElement(StrictMode, null, tag))
    })
    return place.querySelector('mocap-uploader')?.input
  },
  hydrateIdle: () => void hydrate(createElement(Idle)),
  begin(settings: Settings): void {
    const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
    const place = document.body.appendChild(document.createElement('main'))
    countFrames()
    createRoot(place).render(createElement(StrictMode, null, createElement(App, { settings, files })))
  },
}

declare global {
  var reactRig: {
    readonly seen: {
      readonly renders: number
      readonly events: number
      readonly begun: number
      readonly frames: number
    }
    inputOf(by: 'property' | 'ref', where: 'page' | 'server'): Promise<unknown>
    hydrateIdle(): void
    begin(settings: { readonly baseUrl: string; readonly apiKey: string }): void
  }
}
globalThis.reactRig = reactRig
