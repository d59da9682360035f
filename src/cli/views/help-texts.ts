// What the help adds to commander's own lists: which options are required, and paragraphs below, in lines that the terminal
// need not break.

import { type Command, Help, type Option } from 'commander'
import { wrapped } from './text-width.ts'

const WIDEST = 100
/** Where there is no terminal, or one that does not say how wide it is, such as a serial line: it says 0. */
const UNKNOWN_WIDTH = 80
/** Descriptions of fewer columns than that stand below what they describe, not beside it. */
const NARROWEST = 20
/** What commander puts before and between the columns. */
const BESIDE = 4
const BELOW = '      '

/** Marks the required options in the help. Commands that are added afterwards inherit it. */
export function markRequired(program: Command): Command {
  const plain = new Help()
  return program.configureHelp({
    prepareContext(this: Help, { helpWidth }) {
      this.helpWidth = helpWidth || UNKNOWN_WIDTH
    },
    // With commander's own 40, descriptions of options are not wrapped in windows of less than about 70 columns.
    minWidthToWrap: NARROWEST,
    optionDescription: (option: Option) =>
      option.mandatory ? `${plain.optionDescription(option)} (required)` : plain.optionDescription(option),
    // Commander leaves descriptions unwrapped where they have no room.
    formatItem(term, termWidth, description, helper) {
      const columns = helper.helpWidth ?? Infinity
      if (columns - termWidth - BESIDE >= NARROWEST)
        return plain.formatItem.call(helper, term, termWidth, description, helper)
      const below = wrapped(description, columns - BELOW.length).replaceAll('\n', `\n${BELOW}`)
      return `  ${term}${below === '' ? '' : `\n${BELOW}${below}`}`
    },
  })
}

/** Adds paragraphs below the lists, each wrapped to the terminal. A line break within a paragraph stays. */
export function addBelow(command: Command, ...paragraphs: readonly string[]): Command {
  return command.addHelpText('after', () => {
    const columns = Math.min(WIDEST, (process.stdout.columns || UNKNOWN_WIDTH) - 1)
    return `\n${paragraphs.map((text) => wrapped(text, columns)).join('\n')}`
  })
}

/** Adds commands to copy under a title, one a line and never broken. */
export function addExamples(command: Command, title: string, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}
