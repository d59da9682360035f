// How the element looks. It follows the page's color-scheme, and uses the system's font. Pages change it through custom
// properties and parts, both listed in docs/element.md.

const made = /* @__PURE__ */ new WeakMap<Document, CSSStyleSheet>()

/** One sheet for all elements of a document. It is constructed, so that no policy against inline styles refuses it. */
export function styleSheet(document: Document): CSSStyleSheet {
  let sheet = made.get(document)
  if (!sheet) {
    sheet = new (document.defaultView ?? globalThis).CSSStyleSheet()
    // The jsdom of Jest 30 has sheets without this method. An element there need not look like anything.
    ;(sheet as Partial<CSSStyleSheet>).replaceSync?.(SHEET)
    made.set(document, sheet)
  }
  return sheet
}

/** One string, made of literals that the build joins. */
const SHEET =
  // Contrast with the surface is at least 4.5 for text and 3 for lines that carry meaning, in both schemes.
  // A container has no width of its own, so in a dialog or beside other things nothing of it would be seen; it gets an intrinsic width.
  `
:host {
  display: block; container-type: inline-size; contain-intrinsic-inline-size: 20rem; min-inline-size: 0;
  --_accent: var(--mocap-accent, light-dark(#2456c7, #8fb3ff));
  --_on-accent: var(--mocap-on-accent, light-dark(#fff, #0b1836));
  --_surface: var(--mocap-surface, light-dark(#fff, #15181e));
  --_raised: var(--mocap-raised, light-dark(#f5f6f8, #1f232b));
  --_text: var(--mocap-text, light-dark(#16191f, #eceef2));
  --_muted: var(--mocap-muted, light-dark(#565d6b, #a7aebb));
  --_line: var(--mocap-line, light-dark(#dcdfe5, #333944));
  --_edge: var(--mocap-edge, light-dark(#868d9b, #79818f));
  --_success: var(--mocap-success, light-dark(#17713f, #71d39b));
  --_danger: var(--mocap-danger, light-dark(#b3261e, #ffaea6));
  @media (prefers-contrast: more) { --_muted: var(--_text); --_edge: var(--_text); }
}
` +
  // What a page says of its own text, such as capitals or no line breaks, would pass to the element.
  // Each fact has a dot before it. The dot of the first fact of a line lies before the start of the line, where it is clipped away.
  // What only screen readers say lies over the last line of pixels. Below it, a dialog that scrolls would get a scroll bar for it.
  `
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
h2, p, ul { margin: 0; padding: 0; list-style: none; }
.uploader, dialog {
  background: var(--_surface); border: 1px solid var(--_line); border-radius: var(--mocap-radius, 12px);
  color: var(--_text); font: var(--mocap-font-size, .9375rem)/1.45 var(--mocap-font, system-ui, sans-serif);
  font-variant-numeric: tabular-nums; letter-spacing: 0; text-align: start; white-space: normal; overflow-wrap: anywhere; text-transform: none;
}
.uploader { overflow: hidden; }
.title { font-weight: 600; line-height: 1.3; }
.hint, .facts, .file-icon { color: var(--_muted); }
.facts { margin-inline: -1em; padding-inline-end: 1em; clip-path: inset(0 1em); }
.file-status { display: contents; }
.facts :not(.file-status) {
  margin-inline-start: 1em;
  &::before { content: '·' / ''; position: absolute; margin-inline-start: -.65em; }
}
.hint, .facts, .file-problem, .notice li, .file button { font-size: .875em; }
.hint, .notice li, h2 + p { margin-block-start: 4px; }
svg { inline-size: 1.25rem; block-size: 1.25rem; fill: none; stroke: currentColor; stroke-width: 1.6;
  stroke-linecap: round; stroke-linejoin: round; display: block; }
.facts, .drop-zone, .offer, .notice, .summary, .file, .actions { display: flex; flex-wrap: wrap; align-items: center; }
.drop-zone, .offer, .notice { border-radius: calc(var(--mocap-radius, 12px) - 4px); }
.actions { gap: 8px; }

button {
  font: inherit; font-weight: 500; line-height: 1.2; color: var(--_text);
  min-block-size: 40px; padding: 8px 16px; cursor: pointer;
  background: var(--_surface); border: 1px solid var(--_edge);
  border-radius: var(--mocap-button-radius, 8px);
}
@media (hover: hover) { button:hover { background: var(--_raised); border-color: var(--_text); } }
:disabled { opacity: .5; }
.primary-button, .primary-button:hover { background: var(--_accent); border-color: var(--_accent); color: var(--_on-accent); }
.quiet-button { background: none; border-color: transparent; color: var(--_muted); padding-inline: 10px; }
.danger-button { color: var(--_danger); border-color: currentColor; }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
.list:focus-visible { outline-offset: -3px; }
h2:focus-visible { outline-offset: 1px; }

.drop-zone {
  gap: 8px 12px; margin: 12px; padding: 12px 16px; border: 1.5px dashed var(--_edge);
}
.drop-icon { padding: 8px; border-radius: 50%; color: var(--_accent); background: var(--_raised); }
[class$='words'] { flex: 1 1 12rem; }
[data-large] { flex-flow: column; gap: 16px; padding: 40px 24px; text-align: center; }
[data-large] .drop-words { flex: none; }
[data-over] { border: 1.5px solid var(--_accent); background: var(--_raised); }

.offer, .notice, .summary { gap: 12px 16px; padding: 16px; }
.offer, .notice { margin: 12px 12px 0; background: var(--_raised); border-inline-start: 4px solid var(--_accent); }
.notice { margin: 0 12px 12px; align-items: start; border-color: var(--_danger); }
.notice button { margin: -8px; }

.summary { padding-inline: 20px; border-block-start: 1px solid var(--_line); }
h2, [data-large] .title { font-size: 1.125em; }
.total-bar { flex: 1 0 100%; block-size: 8px; }
[data-outcome='done'] .title { color: var(--_success); }
[data-outcome='problem'] .title { color: var(--_danger); }
.bar { border-radius: 4px; contain: strict; background: var(--_line); }
.fill { block-size: 100%; background: var(--_accent); transform-origin: 0; &:dir(rtl) { transform-origin: 100%; } }
.said { position: absolute; margin: -1px; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }

dialog {
  max-inline-size: min(26rem, 100vw - 32px); padding: 24px;
}
dialog::backdrop { background: #0008; }
dialog p { margin-block: 8px 20px; }
dialog .actions { display: grid; }
` +
  // Names are shown whole: a finger cannot hover to see the rest of a name, and the clips of a day differ at the end of their names.
  // A button that would squeeze a name gets a line of its own. On a phone, so does the button beside a problem. Rows are contained,
  // or each frame would look into all of them to paint those in sight: with 5,000 rows, three times as long. On paper nobody scrolls.
  `
.list {
  overflow: auto; border-block-start: 1px solid var(--_line); margin-block-end: -1px;
  @media screen { max-block-size: var(--mocap-list-height, min(28rem, 75vh)); }
}
.file {
  gap: 8px .75rem; contain: content; padding: 9px 20px; min-block-size: 60px; border-block-end: 1px solid var(--_line);
}
.words { flex-basis: min(8rem, 100% - 2rem); }
.file-name { font-weight: 500; }
.file-bar { position: absolute; inset: auto 0 0; block-size: 3px; border-radius: 0; }
.file button { min-block-size: 36px; margin-inline-start: auto; padding: 6px 10px; }
[data-state='ready'] button {
  margin-inline-end: -10px;
  &:not(:hover) { border-color: transparent; color: var(--_muted); }
}
:is([data-state='uploading'], [data-state='confirming']) .file-icon { color: var(--_accent); }
[data-state='confirmed'] :is(.file-icon, .file-status) { color: var(--_success); }
[data-state='failed'] :is(.file-icon, .file-status, .file-problem) { color: var(--_danger); }
@container (max-width: 34rem) {
  .actions { flex: 1 1 100%; align-self: stretch; }
  .actions button { flex: auto; }
  [data-large] button { flex-basis: 100%; }
  .drop-zone:not([data-large]) .drop-icon { display: none; }
  .summary, .file { padding-inline: 16px; }
  [data-state='failed'] .words { flex-basis: calc(100% - 2rem); }
  [data-state='failed'] button { margin-inline-start: 2rem; }
}
` +
  `
@media (pointer: coarse) {
  button, .file button { min-block-size: 44px; }
}
@media (prefers-reduced-motion: no-preference) {
  .fill { transition: scale 180ms linear; }
}
@media (forced-colors: active) {
  .bar { border: 1px solid CanvasText; }
  :disabled { opacity: 1; }
  .file-bar { block-size: 7px; }
  .fill { background: Highlight; forced-color-adjust: none; }
  .offer, .notice { border: 1px solid CanvasText; border-inline-start-width: 4px; }
}
`
