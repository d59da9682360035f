// What a person has to read: files that were not added, with the reason, and what stopped an upload, with its advice.

import type { ErrorSummary } from '../core/errors.ts'
import type { Refusal } from './acceptance.ts'
import { build, buildButton, removeElement } from './build-element.ts'
import { isolated, type Formats } from './formats.ts'
import { actionOf, problemOf } from './problems.ts'
import type { UploaderTexts } from './texts.ts'

/** Of many refused files the first are named. */
const NAMED_REFUSALS = 5

export interface Notices {
  readonly element: HTMLElement
  /** Nothing was dropped or added but what has no file in it. */
  showNothing(texts: UploaderTexts): void
  /** At least one. */
  showRefused(refused: readonly Refusal[], texts: UploaderTexts, formats: Formats): void
  /** `words` wins over those of the code. */
  showProblem(error: ErrorSummary, texts: UploaderTexts, words?: string): void
  clear(): void
}

export function createNotices(onDismissed: () => void): Notices {
  const element = build('div', 'notices', { role: 'alert' })
  const show = (texts: UploaderTexts, ...content: (Node | undefined)[]): void => {
    const dismiss = buildButton('dismiss-button quiet-button', () => removeElement(notice, onDismissed), texts.dismiss)
    const notice = build('div', 'notice', {}, build('div', '', {}, ...content), dismiss)
    element.replaceChildren(notice)
  }
  return {
    element,
    showNothing: (texts) => show(texts, build('p', 'title', {}, texts.nothingFound)),
    showRefused(refused, texts, formats) {
      const named = refused
        .slice(0, NAMED_REFUSALS)
        .map(({ name, reason }) => build('li', '', {}, build('bdi', '', {}, name), `: ${texts.refusals[reason]}`))
      const more = refused.length - named.length
      if (more > 0) named.push(build('li', '', {}, texts.andMore(formats.count(more))))
      const title = build('p', 'title', {}, texts.refusedTitle(formats.count(refused.length)))
      show(texts, title, build('ul', '', {}, ...named))
    },
    showProblem(error, texts, words = texts.problems[problemOf(error)]) {
      const details =
        actionOf(error) === 'ask' ? build('p', 'hint', {}, texts.details(isolated(error.message))) : undefined
      show(texts, build('p', 'title', {}, words), details)
    },
    clear: () => element.replaceChildren(),
  }
}
