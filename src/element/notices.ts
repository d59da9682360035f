// What a person has to read: which files were not added and why, and what stopped an upload and what to do about it.

import type { ErrorSummary } from '../core/errors.ts'
import type { Refusal } from './acceptance.ts'
import { build, buildButton, removeElement } from './build-element.ts'
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
}

export function createNotices(onDismissed: () => void): Notices {
  const element = build('div', 'notices', { role: 'alert' })
  /** Those that are shown. */
  let refusals: readonly Refusal[] = []
  const show = (words: Words, title: string, more?: Node): void => {
    refusals = []
    const dismiss = buildButton('dismiss-button quiet-button', () => removeElement(notice, onDismissed), words.dismiss)
    const notice = build(
      'div',
      'notice',
      {},
      build('div', 'notice-words', {}, build('p', 'title', {}, title), more),
      dismiss,
    )
    element.replaceChildren(notice)
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
      if (!element.firstChild || kept.length === refusals.length) return
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
          ? build('p', 'hint', {}, words.details(isolated(message + doubt)))
          : undefined
      show(words, title ?? words.problems[problem], details)
    },
    clear: () => element.replaceChildren(),
  }
  return notices
}
