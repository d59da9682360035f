// Where files come in: by drop on the whole element, by the picker, and by the folder picker where the browser has one.

import { learnFacts } from '../browser.ts'
import { build, buildButton, buildIcon, setAttribute, setPart, setText } from './build-element.ts'
import { filesOfDrop, filesOfInput, hasFiles, pickWithHandles, type ChosenFile } from './chosen-files.ts'
import type { Formats } from './formats.ts'
import { UPLOAD_ICON } from './icons.ts'
import type { UploaderTexts } from './texts.ts'

export interface DropZone {
  readonly element: HTMLElement
  /** Opens the picker; call it in a click. */
  choose(): Promise<void>
  focus(): void
  /** `accept` as of `<input accept>`. Compact while there is something else to look at. */
  draw(texts: UploaderTexts, formats: Formats, accept: string, look: { hasList: boolean; isCompact: boolean }): void
}

/** `target` is what files can be dropped on. */
export function createDropZone(target: HTMLElement, onFiles: (files: ChosenFile[]) => void): DropZone {
  // Not shown, and not in the order of focus: the buttons open them.
  const files = build('input', '', { type: 'file', multiple: '' })
  const folder = build('input', '', { type: 'file', webkitdirectory: '' })
  for (const input of [files, folder]) {
    input.hidden = true
    input.addEventListener('change', () => {
      const chosen = filesOfInput(input)
      void learnFacts(chosen.map(({ file }) => file)).then(() => onFiles(chosen))
      // So that the same file can be chosen again.
      input.value = ''
    })
  }
  const choose = async (): Promise<void> => {
    const picked = await pickWithHandles()
    if (picked === undefined) files.click()
    else if (picked.length > 0) onFiles(picked)
  }
  const title = build('p', 'drop-title title')
  const hint = build('p', 'drop-hint hint')
  const fileButton = buildButton('choose-button', () => void choose())
  const folderButton = buildButton('folder-button quiet-button', () => folder.click())
  folderButton.hidden = !('webkitdirectory' in folder)
  const element = build(
    'div',
    'drop-zone',
    {},
    build('span', 'drop-icon', {}, buildIcon(UPLOAD_ICON)),
    build('div', 'drop-words', {}, title, hint),
    build('div', 'actions', {}, fileButton, folderButton),
    files,
    folder,
  )
  listenForDrops(
    target,
    (isOver) => {
      setAttribute(element, 'data-over', isOver ? '' : undefined)
      setText(title, isOver ? atDrop : atRest)
    },
    onFiles,
  )
  let [atRest, atDrop] = ['', '']
  return {
    element,
    choose,
    focus: () => fileButton.focus(),
    draw(texts, formats, accept, { hasList, isCompact }) {
      const isTouch = matchMedia('(hover: none)').matches
      atRest = hasList ? texts.addMore : isTouch ? texts.addHere : texts.dropHere
      atDrop = texts.dropNow
      if (!element.hasAttribute('data-over')) setText(title, atRest)
      setAttribute(files, 'accept', accept === '' ? undefined : accept)
      setText(fileButton, texts.chooseFiles)
      setText(folderButton, texts.chooseFolder)
      const kinds = accept.split(',').map((kind) => kind.trim().replace(/^\./, '').toUpperCase())
      setText(hint, accept === '' ? '' : texts.accepts(formats.list(kinds)))
      hint.hidden = accept === ''
      setAttribute(element, 'data-large', isCompact ? undefined : '')
      setPart(fileButton, `button choose-button${isCompact ? '' : ' primary-button'}`)
    },
  }
}

function listenForDrops(
  target: HTMLElement,
  onOver: (isOver: boolean) => void,
  onFiles: (files: ChosenFile[]) => void,
): void {
  // Entering a child comes before leaving its parent, so the two are counted.
  let depth = 0
  const reset = (): void => {
    depth = 0
    onOver(false)
  }
  target.addEventListener('dragenter', (event) => {
    if (!hasFiles(event.dataTransfer)) return
    depth += 1
    onOver(true)
  })
  target.addEventListener('dragleave', (event) => {
    if (!hasFiles(event.dataTransfer)) return
    depth -= 1
    if (depth <= 0) reset()
  })
  target.addEventListener('dragover', (event) => {
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
  })
  target.addEventListener('drop', (event) => {
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    reset()
    void filesOfDrop(event.dataTransfer).then(onFiles)
  })
}
