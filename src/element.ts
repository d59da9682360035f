// The entry point of the web component: the class, its registration, and the types of its texts, events and input.

export { defineMocapUploader, MocapUploaderElement } from './element/uploader-element.ts'
export { englishTexts, type OwnTexts, type UploaderTexts } from './element/texts.ts'
export type { Refusal, RefusalReason } from './element/acceptance.ts'
export type { UploaderInput } from './element/attributes.ts'
export type { Amount } from './element/formats.ts'
export type { Problem } from './element/problems.ts'
export type { MocapUploaderEventMap } from './element/uploader-events.ts'
export type { Phase, Totals } from './element/list-state.ts'
