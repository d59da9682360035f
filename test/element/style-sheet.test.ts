// The look of the element where there is none: a document without a screen, in which a page's own tests run.

import { expect, it, vi } from 'vitest'

import { styleSheet } from '../../src/element/style-sheet.ts'

it('is an empty sheet in a document whose sheets take no text, as in the jsdom of Jest 30', () => {
  // What it has beside the text is not asked for.
  const Sheet = class {
    readonly disabled = false
  }
  vi.stubGlobal('CSSStyleSheet', Sheet)

  expect(styleSheet({ defaultView: null } as Document)).toBeInstanceOf(Sheet)
  vi.unstubAllGlobals()
})
