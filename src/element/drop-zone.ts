// Where files come in: by a drop on the whole element, by the file picker, and by the folder picker if the browser has one.

import { kindNames } from './attributes.ts'
import { build, buildButton, buildIcon, setAttribute, setPart, setText, showText } from './build-element.ts'
import { filesOfDrop, filesOfHandles, filesOfInput, pickHandles, type ChosenFile } from './chosen-files.ts'
import { ICONS } from './icons.ts'
import type { Item } from './items.ts'
import type { Words } from './words.ts'

/**
 * A drag is gone when it was not heard of for this time, ms. While it is over the element, also at rest, the standard has browsers
 * tell so every 350 ms, or up to 200 later. Nobody is told that a drag has left a node that was replaced, as the facts are in each frame.
 */
const GONE_MS = 600

/** If the files are not known after this time, ms, the zone says that it is at it. Thousands in a folder take seconds. */
const READING_FROM_MS = 400

export interface DropZone {
  readonly element: HTMLElement
  /** Opens the picker. Must be called in a click. `instead`: the row whose file is to be chosen again. */
  choose(instead?: Item): Promise<void>
  focus(): void
  /** `accept` as in `<input accept>`. The zone is compact while there is something else to look at. */
  draw(words: Words, accept: string, look: { hasList: boolean; isCompact: boolean }): void
}

/** `target` is what files can be dropped on. `onReading` is called when files are long in coming. */
export function createDropZone(
  target: HTMLElement,
  onFiles: (files: ChosenFile[], instead?: Item) => Promise<void>,
  onReading: () => void,
): DropZone {
  let asked: Item | undefined
  /** The files of a drop or a picker that are long in coming. */
  const late = new Set<Promise<ChosenFile[]>>()
  const take = async (coming: Promise<ChosenFile[]>, instead?: Item): Promise<void> => {
    const timer = setTimeout(() => {
      late.add(coming)
      onReading()
    }, READING_FROM_MS)
    const files = await coming
    clearTimeout(timer)
    late.delete(coming)
    await onFiles(files, instead)
  }
  // The inputs are hidden and cannot be focused; the buttons open them.
  const files = build('input', '', { type: 'file', multiple: '' })
  const folder = build('input', '', { type: 'file', webkitdirectory: '' })
  for (const input of [files, folder]) {
    input.hidden = true
    input.addEventListener('change', () => {
      void take(filesOfInput(input), asked)
      // Otherwise choosing the same file again would fire no event.
      input.value = ''
    })
  }
  const open = (input: HTMLInputElement, instead?: Item): void => {
    asked = instead
    input.click()
  }
  const choose = async (instead?: Item): Promise<void> => {
    const picked = await pickHandles(files.accept)
    if (picked) await take(filesOfHandles(picked), instead)
    else if (picked === undefined) open(files, instead)
  }
  const title = build('p', 'drop-title title')
  const hint = build('p', 'drop-hint hint')
  const fileButton = buildButton('choose-button', () => void choose())
  const folderButton = buildButton('folder-button quiet-button', () => open(folder))
  folderButton.hidden = !('webkitdirectory' in folder)
  const element = build(
    'div',
    'drop-zone',
    {},
    build('span', 'drop-icon', {}, buildIcon(ICONS.uploading)),
    build('div', 'drop-words', {}, title, hint),
    build('div', 'actions', {}, fileButton, folderButton),
    files,
    folder,
  )
  let gone: ReturnType<typeof setTimeout> | undefined
  for (const type of ['dragenter', 'dragover', 'drop'] as const)
    target.addEventListener(type, (event) => {
      const { dataTransfer: transfer } = event
      // Their names are hidden until the drop.
      if (!transfer?.types.includes('Files')) return
      event.preventDefault()
      clearTimeout(gone)
      element.toggleAttribute('data-over', type !== 'drop')
      if (type === 'drop') void take(filesOfDrop(transfer))
      else {
        transfer.dropEffect = 'copy'
        gone = setTimeout(() => element.removeAttribute('data-over'), GONE_MS)
      }
    })
  return {
    element,
    choose,
    focus: () => fileButton.focus(),
    draw(words, accept, { hasList, isCompact }) {
      // A DOM that draws no page, such as one in tests, has no matchMedia.
      const isTouch = (globalThis as Partial<typeof globalThis>).matchMedia?.('(hover: none)').matches
      setText(title, late.size > 0 ? words.reading : hasList ? words.addMore : isTouch ? words.addHere : words.dropHere)
      setAttribute(files, 'accept', accept === '' ? undefined : accept)
      setText(fileButton, words.chooseFiles)
      setText(folderButton, words.chooseFolder)
      const kinds = kindNames(accept)
      showText(hint, kinds.length > 0 && words.accepts(words.list(kinds)))
      element.toggleAttribute('data-large', !isCompact)
      setPart(fileButton, `button choose-button${isCompact ? '' : ' primary-button'}`)
    },
  }
}
