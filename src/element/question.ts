// The question before uploaded bytes are given up: a modal dialog in which the safe answer has the focus, and Escape means it.

import { build, buildButton, setText, showText } from './build-element.ts'
import type { AtStake } from './offer-control.ts'
import type { Words } from './words.ts'

export interface Question {
  readonly element: HTMLDialogElement
  /**
   * Resolves with what the person wants given up; undefined means no. If no uploaded bytes are at stake, resolves with `discard`
   * without asking. One question is shown at a time: a new one closes the one before, which then resolves with undefined. A question
   * asked before that has happened resolves with undefined too, as does one out of the page, where nobody sees it. `isKept`:
   * confirmed files stay in any case.
   */
  ask(words: Words, atStake: AtStake, isKept: boolean): Promise<GivenUp | undefined>
}

/** What is given up: all but the confirmed files (`discard`) or everything (`cancel`). Both are methods of an upload. */
export type GivenUp = 'discard' | 'cancel'

export function createQuestion(): Question {
  const title = build('h2', 'dialog-title title', { id: 'question' })
  const body = build('p', '', { id: 'question-body' })
  const keep = buildButton('primary-button', () => element.close(''))
  const discard = buildButton('', () => element.close('discard'))
  const cancel = buildButton('danger-button', () => element.close('cancel'))
  const element = build(
    'dialog',
    'dialog',
    { dir: 'auto', 'aria-labelledby': 'question', 'aria-describedby': 'question-body' },
    title,
    body,
    // A dialog gives the focus to its first button.
    build('div', 'actions', {}, keep, discard, cancel),
  )
  let asking: Promise<GivenUp | undefined> | undefined
  return {
    element,
    async ask(words, atStake, isKept) {
      const what = questionOf(atStake, isKept, words)
      if (!what) return 'discard'
      if (element.open) {
        // Nobody can ask again while the dialog is in front, so a dialog that the page opened since must hide it.
        element.close()
        await asking
      }
      // Browsers fire `close` only in the next frame. A question asked before that would be answered by it.
      if (asking || !element.isConnected) return
      const done = atStake.filesConfirmed
      setText(title, words.questionTitle)
      setText(body, what)
      setText(keep, words.questionKeep)
      showText(discard, done > 0 && words.questionDiscard(done))
      showText(cancel, !(isKept && done > 0) && words.questionCancel)
      element.returnValue = ''
      element.showModal()
      asking = new Promise((resolve) => {
        const answer = (): void => {
          // Escape and going back leave no value. With `isKept`, files confirmed while the person reads are kept too.
          const how = (element.returnValue || undefined) as GivenUp | undefined
          asking = undefined
          resolve(how && isKept ? 'discard' : how)
        }
        element.addEventListener('close', answer, { once: true })
      })
      return asking
    },
  }
}

/** The text of the question. Undefined if no uploaded bytes would be lost. `isKept`: confirmed files stay. */
export function questionOf(atStake: AtStake, isKept: boolean, words: Words): string | undefined {
  const { filesConfirmed: done, filesTotal, confirmedBytes } = atStake
  if (!confirmedBytes || (isKept && done === filesTotal)) return undefined
  return done ? words.progress(done, filesTotal) : words.questionPart
}
