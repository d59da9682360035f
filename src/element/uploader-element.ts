// `<mocap-uploader>`: reads attributes and properties, holds the view in a shadow root, and reports by events. It uses no
// framework, and nothing inline, so that it works under a strict Content-Security-Policy.

import { createUplink, type BrowserUplink } from '../browser.ts'
import type { Credentials } from '../client/credentials.ts'
import { given } from '../core/given.ts'
import type { CapturesInput } from '../flows/captures.ts'
import type { VideosInput } from '../flows/videos.ts'
import { acceptOf, DRAWN_ATTRIBUTES, flowOf, inputOf, isOn, type UploaderInput } from './attributes.ts'
import { chosenFile } from './chosen-files.ts'
import type { Setting } from './setting.ts'
import { guardFromSlips } from './slips.ts'
import { styleSheet } from './style-sheet.ts'
import { englishTexts, type OwnTexts, type UploaderTexts } from './texts.ts'
import type { Phase, Totals } from './list-state.ts'
import { tellOn } from './uploader-events.ts'
import { createUploaderView, type UploaderView } from './uploader-view.ts'
import { createWords, type Words } from './words.ts'

/** A server that renders has no HTMLElement, and must still be able to load this module. */
const Base = typeof HTMLElement === 'undefined' ? (Object as unknown as typeof HTMLElement) : HTMLElement

/**
 * The class of `<mocap-uploader>`. Its attributes and events are listed in docs/element.md. Removing the element from the
 * page stops nothing: an upload continues until it is paused, cancelled or done.
 */
export class MocapUploaderElement extends Base {
  static readonly observedAttributes: readonly string[] = DRAWN_ATTRIBUTES

  readonly #root: ShadowRoot
  readonly #view: UploaderView
  #uplink: BrowserUplink | undefined
  #made: { readonly of: string; readonly uplink: BrowserUplink } | undefined
  #credentials: Credentials | undefined
  #input: UploaderInput = {}
  #texts: UploaderTexts = englishTexts
  #words: { readonly of: string; readonly words: Words } | undefined

  /** Looks again when somebody returns to the page, because another tab may have changed something. */
  readonly #onReturn = (): void => {
    if (!document.hidden) this.#look()
  }

  constructor() {
    super()
    this.#root = this.attachShadow({ mode: 'open' })
    this.#view = createUploaderView(this, () => this.#setting(), tellOn(this))
    this.#root.append(...this.#view.elements)
    guardFromSlips(this.#root)
  }

  connectedCallback(): void {
    // A page may have set properties before the class was registered. They hide its accessors, so they are deleted and set again.
    for (const [name, value] of Object.entries(this) as [string, unknown][]) {
      if (!(name in MocapUploaderElement.prototype)) continue
      Reflect.deleteProperty(this, name)
      Reflect.set(this, name, value)
    }
    // A document takes no sheet of another one, and an element that moves to it, such as to a window of its own, loses those it has.
    this.#root.adoptedStyleSheets = [styleSheet(this.ownerDocument)]
    this.#look()
    document.addEventListener('visibilitychange', this.#onReturn)
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.#onReturn)
    // Left open, it would come back as a box below the rest instead of in front of it.
    this.#root.querySelector<HTMLDialogElement>('dialog[open]')?.close()
  }

  attributeChangedCallback(): void {
    this.#look()
  }

  /** The Uplink that carries every upload. Overrides `base-url` and `credentials`. It belongs to the page: the element never closes it. */
  get uplink(): BrowserUplink | undefined {
    return this.#uplink
  }
  set uplink(uplink: BrowserUplink | undefined) {
    this.#uplink = uplink
    this.#look()
  }

  /** `{ apiKey }` or `{ accessToken }`, a string or an async function, for the Uplink that the element creates from `base-url`. */
  get credentials(): Credentials | undefined {
    return this.#credentials
  }
  set credentials(credentials: Credentials | undefined) {
    this.#credentials = credentials
    this.#made = undefined
    this.#look()
  }

  /** Everything about an upload except its files. Its fields override the attributes. */
  get input(): UploaderInput {
    return this.#input
  }
  // Frameworks set undefined where a property is no longer given.
  set input(input: UploaderInput | undefined) {
    this.#input = input ?? {}
    this.#view.redraw()
  }

  /** The texts in use. Any part of the table can be set; what is left out is English. */
  get texts(): UploaderTexts {
    return this.#texts
  }
  // What a translation lacks, a page may give as undefined.
  set texts(texts: OwnTexts | undefined) {
    this.#texts = {
      ...englishTexts,
      ...given({ ...texts }),
      refusals: { ...englishTexts.refusals, ...given({ ...texts?.refusals }) },
      problems: { ...englishTexts.problems, ...given({ ...texts?.problems }) },
    }
    this.#words = undefined
    this.#view.redraw()
  }

  /** What the element is doing, over all of its uploads. */
  get phase(): Phase {
    return this.#view.list.phase()
  }

  get totals(): Totals {
    return this.#view.list.totals()
  }

  /** Moves the focus to the button that chooses files. */
  override focus(): void {
    this.#view.focus()
  }

  /** Adds files in the order given. Each is refused, matched to an unfinished upload, or put on the list. */
  addFiles(files: Iterable<File>): void {
    this.#view.add([...files].map((file) => chosenFile(file)))
  }

  /** Uploads the files that are ready. Never rejects: an error is shown and reported by an event. */
  start(): Promise<void> {
    return this.#view.start()
  }

  pause(): void {
    this.#view.list.pause()
  }

  resume(): void {
    this.#view.list.resume()
  }

  retry(): Promise<void> {
    return this.#view.retry()
  }

  /** Cancels the active uploads. Asks the person first if something is confirmed, and resolves with false if the answer was no. */
  cancel(): Promise<boolean> {
    return this.#view.cancel()
  }

  /** Looks for unfinished uploads, also out of sight: what is begun there goes by what was found. */
  #look(): void {
    this.#view.redraw()
    void this.#view.lookForOffers()
  }

  #setting(): Setting {
    const flow = flowOf(this)
    const input = inputOf(this, this.#input)
    return {
      words: this.#currentWords(),
      flow,
      uplink: () => this.#currentUplink(),
      accept: acceptOf(this, flow, input),
      isRenaming: input.rename ?? false,
      isAdding: input.sessionId !== undefined,
      isStartingByItself: isOn(this.getAttribute('auto-start')),
      begin(uplink, sources) {
        const files = sources.map((source) => ({ source }))
        // The flow checks every field and names the one that is missing or wrong.
        return flow === 'video'
          ? uplink.uploadVideos({ ...input, files } as VideosInput)
          : uplink.uploadCaptures({ ...input, files } as CapturesInput)
      },
      resume: (uplink, key, options) => uplink.resume(key, { ...input, ...options }),
    }
  }

  #currentUplink(): BrowserUplink | undefined {
    const baseUrl = this.getAttribute('base-url')
    if (this.#uplink || baseUrl === null || !this.#credentials) return this.#uplink
    if (this.#made?.of !== baseUrl)
      this.#made = { of: baseUrl, uplink: createUplink({ baseUrl, credentials: this.#credentials }) }
    return this.#made.uplink
  }

  #currentWords(): Words {
    const language = languageOf(this)
    if (this.#words?.of !== language) this.#words = { of: language, words: createWords(this.#texts, language) }
    return this.#words.words
  }
}

/** The language of the nearest `lang` attribute: the element's own or that of an ancestor, also outside of its shadow root. */
function languageOf(element: Element): string {
  const root = element.getRootNode()
  const found = element.closest('[lang]')?.getAttribute('lang')
  return found ?? (root instanceof ShadowRoot ? languageOf(root.host) : '')
}

declare global {
  interface HTMLElementTagNameMap {
    'mocap-uploader': MocapUploaderElement
  }
}

/** Registers the element. The name needs a hyphen; default `mocap-uploader`. Does nothing if the name is already registered. */
export function defineMocapUploader(name = 'mocap-uploader'): void {
  if (customElements.get(name)) return
  // A class can be registered only once, so each name gets a subclass of its own.
  customElements.define(name, class extends MocapUploaderElement {})
}
