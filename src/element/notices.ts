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
  showNothing(): void
  /** Names refused files, behind those that are named already. There must be at least one. */
  showRefused(added: readonly Refusal[]): void
  /** Takes back, of the refusals that are shown, those that do not hold any more. */
  keepRefused(holds: (refusal: Refusal) => boolean): void
  /** Shows an error. `title` replaces the words for its code. */
  showProblem(error: ErrorSummary, title?: (words: Words) => string): void
  clear(): void
  /**
   * Shows the last that was to be shown, and anew in other words. It pushes down what is below it, so it comes with everything else
   * that moves.
   */
  draw(words: Words): void
}

/** `onChange` is called when there is something to draw; `onDismissed` when the notice is gone that had the focus. */
export function createNotices(onChange: () => void, onDismissed: () => void): Notices {
  const element = build('div', 'notices', { role: 'alert' })
  // One notice, whose words change, so that the focus stays on its button.
  let said = build('div', '')
  const dismiss = buildButton('dismiss-button quiet-button', () => notices.clear())
  const notice = build('div', 'notice', {}, said, dismiss)
  /** What is to be read. */
  let content: ((words: Words) => readonly [title: string, more?: Node | undefined]) | undefined
  /** What is shown of it. Undefined until it is. */
  let shown: string | null | undefined
  let refusals: readonly Refusal[] = []
  const show = (next: typeof content, refused: typeof refusals = []): void => {
    refusals = refused
    content = next
    shown = undefined
    onChange()
  }
  const notices: Notices = {
    element,
    showNothing: () => show((words) => [words.nothingFound]),
    showRefused(added) {
      const refused = [...refusals, ...added]
      show((words) => {
        const named = refused
          .slice(0, NAMED_REFUSALS)
          .map(({ location, reason }) =>
            build('li', '', {}, build('bdi', '', {}, location), `: ${words.refusals[reason]}`),
          )
        const more = refused.length - named.length
        if (more > 0) named.push(build('li', '', {}, words.andMore(more)))
        return [words.refusedTitle(refused.length), build('ul', '', {}, ...named)]
      }, refused)
    },
    keepRefused(holds) {
      const kept = refusals.filter(holds)
      if (kept.length === refusals.length) return
      refusals = []
      if (kept.length > 0) notices.showRefused(kept)
      else notices.clear()
    },
    showProblem(error, title) {
      const problem = problemOf(error)
      const { message, status, file } = error
      // What does not know how to create a session is hardly the service.
      const doubt = status === 404 && !file ? ' Check the base URL.' : ''
      show((words) => [
        title?.(words) ?? words.problems[problem],
        problem === 'setup' || problem === 'elsewhere'
          ? build('p', 'hint', {}, words.details(isolated(message + doubt)))
          : undefined,
      ])
    },
    clear() {
      refusals = []
      content = undefined
      removeElement(notice, onDismissed)
    },
    draw(words) {
      if (!content) return
      const [title, more] = content(words)
      const next = build('div', 'notice-words', {}, build('p', 'title', {}, title), more)
      // A page may set its texts each time that it draws itself. What says the same is not read out again.
      if (next.textContent !== shown) said.replaceWith((said = next))
      shown = next.textContent
      setText(dismiss, words.dismiss)
      if (!element.firstChild) element.append(notice)
    },
  }
  return notices
}
