// What the element says in one language: its texts, whose functions take plain numbers here, and how amounts are written.

import type { Identity } from './file-identity.ts'
import { createFormats, isolated, type Amount, type Formats } from './formats.ts'
import type { UploaderTexts } from './texts.ts'

type AsNumbers<Given> = { readonly [Index in keyof Given]: Given[Index] extends Amount ? number : Given[Index] }
type Said<Text> = Text extends (...given: infer Given) => string ? (...given: AsNumbers<Given>) => string : Text

export type Words = Formats & { readonly [Name in keyof UploaderTexts]: Said<UploaderTexts[Name]> }

/** `language`: see `createFormats`. */
export function createWords(texts: UploaderTexts, language: string | undefined): Words {
  const formats = createFormats(language)
  const amountOf = (given: unknown): unknown => (typeof given === 'number' ? formats.count(given) : given)
  const said = Object.entries(texts).map(([name, text]: [string, unknown]) => [
    name,
    typeof text === 'function'
      ? (...given: unknown[]) => Reflect.apply(text, texts, given.map(amountOf)) as string
      : text,
  ])
  return Object.assign(Object.fromEntries(said) as Words, formats)
}

/** Of many files, only the first are named. */
const NAMED_FILES = 3

export function namesOf(files: readonly Identity[], words: Words): string {
  const named = files
    .slice(0, NAMED_FILES)
    .map(({ location }) => isolated(location))
    .join(', ')
  const more = files.length - NAMED_FILES
  return more > 0 ? `${named} ${words.andMore(more)}` : named
}
