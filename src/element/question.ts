// The question before something that was uploaded is given up: a modal dialog, where the safe answer has the focus and Escape means it.

import { build, buildButton, setText, showText } from './build-element.ts'
import type { AtStake } from './offer-control.ts'
import type { Words } from './words.ts'

export interface Question {
  readonly element: HTMLDialogElement
  /**
   * What the person said; where nothing that was uploaded is at stake, a discard without asking. One at a time: the one before is
   * answered with undefined, which is no, and so is one that comes before that is over. `isKept`: files that are confirmed stay in any
   * case.
   */
  ask(words: Words, atStake: AtStake, isKept: boolean): Promise<GivenUp | undefined>
}

/** What is given up: the rest, without the files that are confirmed, or the whole. Both are verbs of an upload. */
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
    build('div', 'actions', {}, keep, discard, cancel),
  )
  keep.autofocus = true
  let asking: Promise<GivenUp | undefined> | undefined
  return {
    element,
    async ask(words, atStake, isKept) {
      const what = questionOf(atStake, isKept, words)
      if (!what) return 'discard'
      if (element.open) {
        // Nobody gets to ask again while it is in front: a dialog of the page that was opened since hides it.
        element.close()
        await asking
      }
      // Browsers tell of a close in the next frame only: a question that was put before would be answered by it.
      if (asking) return
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
          // Escape and going back leave none. What is confirmed while one reads is kept, too.
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

/** What is to be asked; undefined where nothing that was uploaded is lost. `isKept`: files that are confirmed stay. */
export function questionOf(atStake: AtStake, isKept: boolean, words: Words): string | undefined {
  const { filesConfirmed: done, filesTotal, confirmedBytes } = atStake
  if (!confirmedBytes || (isKept && done === filesTotal)) return undefined
  return done ? words.progress(done, filesTotal) : words.questionPart
}
