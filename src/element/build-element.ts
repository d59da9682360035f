// Builds DOM by calls instead of markup in strings, and without the inline styles and scripts that a strict
// Content-Security-Policy would refuse.

type Child = Node | string | undefined

const SVG = 'http://www.w3.org/2000/svg'

/** Creates an element whose part names are also its classes: pages style the parts, and the element's own sheet the classes. */
export function build<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  part: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  if (part) setPart(element, part)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.flatMap((child) => child ?? []))
  return element
}

export function setPart(element: Element, part: string): void {
  setAttribute(element, 'part', part)
  setAttribute(element, 'class', part)
}

/** Creates a button. Its text is set where the state is drawn. */
export function buildButton(part: string, onClick: () => void): HTMLButtonElement {
  const button = build('button', `button ${part}`, { type: 'button' })
  button.addEventListener('click', onClick)
  return button
}

/** Creates a 20 × 20 line drawing. It is hidden from screen readers, because the words beside it say what it means. */
export function buildIcon(path: string): SVGSVGElement {
  const icon = document.createElementNS(SVG, 'svg')
  icon.setAttribute('viewBox', '0 0 20 20')
  icon.setAttribute('aria-hidden', 'true')
  const line = document.createElementNS(SVG, 'path')
  line.setAttribute('d', path)
  icon.append(line)
  return icon
}

/** The focused element in the shadow root of `element`, also while another window or tab is in front and `:focus` matches nothing. */
export function focusedBeside(element: Element): Element | null {
  return (element.getRootNode() as ShadowRoot).activeElement
}

/** Removes an element. Calls `onLost` if the focus was in it. */
export function removeElement(element: Element, onLost: () => void): void {
  const hadFocus = element.contains(focusedBeside(element))
  element.remove()
  if (hadFocus) onLost()
}

/** Sets a text only if it differs, so that nothing is laid out or read out again for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Shows an element with this text, or hides it if there is none. */
export function showText(element: HTMLElement, text: string | false | undefined): void {
  element.hidden = !text
  setText(element, text || '')
}

/** Like `setText`, for several facts. A line that is too long breaks between two of them. Returns the facts that are shown. */
export function setFacts(element: Element, known: readonly (string | false)[]): string[] {
  const facts = known.filter((fact) => fact !== false)
  if (element.textContent !== facts.join(''))
    element.replaceChildren(...facts.map((fact) => build('span', '', {}, fact)))
  return facts
}

/** Like `setText`, for an attribute. Undefined removes it. */
export function setAttribute(element: Element, name: string, value: string | undefined): void {
  if (element.getAttribute(name) === (value ?? null)) return
  if (value === undefined) element.removeAttribute(name)
  else element.setAttribute(name, value)
}
