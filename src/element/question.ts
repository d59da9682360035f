// The question before something confirmed is given up: a modal dialog, where the safe answer has the focus and Escape means it.

import { build, buildButton, setText } from './build-element.ts'
import type { AtStake } from './offer-control.ts'
import type { Words } from './words.ts'

export interface Question {
  readonly element: HTMLDialogElement
  /** True when the person said to cancel. One at a time: a second asking is answered with no. */
  ask(words: Words, what: string): Promise<boolean>
}

export function createQuestion(): Question {
  const title = build('h2', 'dialog-title title', { id: 'question' })
  const body = build('p', '', { id: 'question-body' })
  const keep = buildButton('primary-button', () => element.close('keep'))
  const cancel = buildButton('danger-button', () => element.close('cancel'))
  const element = build(
    'dialog',
    'dialog',
    { dir: 'auto', 'aria-labelledby': 'question', 'aria-describedby': 'question-body' },
    title,
    body,
    build('div', 'actions', {}, keep, cancel),
  )
  keep.autofocus = true
  return {
    element,
    ask(words, what) {
      if (element.open) return Promise.resolve(false)
      setText(title, words.questionTitle)
      setText(body, what)
      setText(keep, words.questionKeep)
      setText(cancel, words.questionCancel)
      element.returnValue = ''
      element.showModal()
      return new Promise((resolve) => {
        element.addEventListener('close', () => resolve(element.returnValue === 'cancel'), { once: true })
      })
    },
  }
}

/** What is to be asked; undefined where nothing that was uploaded is lost. `isKept`: files that are confirmed stay. */
export function questionOf(atStake: AtStake, isKept: boolean, words: Words): string | undefined {
  const { filesConfirmed: done, filesTotal, confirmedBytes } = atStake
  if (!confirmedBytes || (isKept && done === filesTotal)) return undefined
  return isKept ? words.questionKept(done, filesTotal - done) : words.questionBody(done)
}
