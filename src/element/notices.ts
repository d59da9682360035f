// What a person has to read: which files were not added and why, and what stopped an upload and what to do about it.

import type { ErrorSummary } from '../core/errors.ts'
import type { Refusal } from './acceptance.ts'
import { build, buildButton, removeElement, setText } from './build-element.ts'
import { isolated } from './formats.ts'
import { problemOf } from './problems.ts'
import type { Words } from './words.ts'

/** Of many refused files, only the first are named. */
const NAMED_REFUSALS = 5

export interface Notices {
  readonly element: HTMLElement
  /** Says that what was dropped or added holds no file. */
  showNothing(words: Words): void
  /** Names the refused files. There must be at least one. */
  showRefused(refused: readonly Refusal[], words: Words): void
  /** Takes back, of the refusals that are shown, those that do not hold any more. */
  keepRefused(holds: (refusal: Refusal) => boolean, words: Words): void
  /** Shows an error. `title` replaces the words for its code. */
  showProblem(error: ErrorSummary, words: Words, title?: string): void
  clear(): void
  /** Shows the last that was to be shown. It pushes down what is below it, so it comes with everything else that moves. */
  draw(): void
}

/** `onChange` is called when there is something to draw; `onDismissed` when the notice is gone that had the focus. */
export function createNotices(onChange: () => void, onDismissed: () => void): Notices {
  const element = build('div', 'notices', { role: 'alert' })
  // One notice, whose words change, so that the focus stays on its button.
  const said = build('div', 'notice-words')
  const dismiss = buildButton('dismiss-button quiet-button', () => notices.clear())
  const notice = build('div', 'notice', {}, said, dismiss)
  /** What is to be shown next. */
  let next: readonly Node[] | undefined
  /** Those that are shown. */
  let refusals: readonly Refusal[] = []
  const show = (words: Words, title: string, ...more: readonly Node[]): void => {
    refusals = []
    next = [build('p', 'title', {}, title), ...more]
    setText(dismiss, words.dismiss)
    onChange()
  }
  const notices: Notices = {
    element,
    showNothing: (words) => show(words, words.nothingFound),
    showRefused(refused, words) {
      const named = refused
        .slice(0, NAMED_REFUSALS)
        .map(({ name, reason }) => build('li', '', {}, build('bdi', '', {}, name), `: ${words.refusals[reason]}`))
      const more = refused.length - named.length
      if (more > 0) named.push(build('li', '', {}, words.andMore(more)))
      show(words, words.refusedTitle(refused.length), build('ul', '', {}, ...named))
      refusals = refused
    },
    keepRefused(holds, words) {
      const kept = refusals.filter(holds)
      if (kept.length === refusals.length) return
      if (kept.length > 0) notices.showRefused(kept, words)
      else notices.clear()
    },
    showProblem(error, words, title) {
      const problem = problemOf(error)
      const { message, status, file } = error
      // What does not know how to create a session is hardly the service.
      const doubt = status === 404 && !file ? ' Check the base URL.' : ''
      const details =
        problem === 'setup' || problem === 'elsewhere'
          ? [build('p', 'hint', {}, words.details(isolated(message + doubt)))]
          : []
      show(words, title ?? words.problems[problem], ...details)
    },
    clear() {
      refusals = []
      next = undefined
      removeElement(notice, onDismissed)
    },
    draw() {
      if (!next) return
      said.replaceChildren(...next)
      next = undefined
      if (!element.firstChild) element.append(notice)
    },
  }
  return notices
}
