// Builds DOM by calls, so that there is neither markup in strings nor an inline style or script that a strict
// Content-Security-Policy would refuse.

type Child = Node | string | undefined

const SVG = 'http://www.w3.org/2000/svg'

/** Makes an element whose parts are its classes as well: pages style the parts, and so does the element itself. */
export function build<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  part: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  if (part !== '') setPart(element, part)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

export function setPart(element: Element, part: string): void {
  setAttribute(element, 'part', part)
  setAttribute(element, 'class', part)
}

/** A button of the element; its text is set where the state is drawn. */
export function buildButton(part: string, onClick: () => void, text = ''): HTMLButtonElement {
  const button = build('button', `button ${part}`, { type: 'button' }, text)
  button.addEventListener('click', onClick)
  return button
}

/** A 20 × 20 line drawing, hidden from screen readers: the words beside it say what it means. */
export function buildIcon(path: string): SVGSVGElement {
  const icon = document.createElementNS(SVG, 'svg')
  icon.setAttribute('viewBox', '0 0 20 20')
  icon.setAttribute('aria-hidden', 'true')
  const line = document.createElementNS(SVG, 'path')
  line.setAttribute('d', path)
  icon.append(line)
  return icon
}

/** What has the focus beside `element`, also while another window or tab is in front: `:focus` matches nothing then. */
export function focusedBeside(element: Element): Element | null {
  return (element.getRootNode() as ShadowRoot).activeElement
}

/** Removes an element; `onLost` hears that the focus was in it. */
export function removeElement(element: Element, onLost: () => void): void {
  const hadFocus = element.contains(focusedBeside(element))
  element.remove()
  if (hadFocus) onLost()
}

/** Sets a text only when it changes, so that nothing is laid out or read out again for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Shows an element with its text; hides it when there is none. */
export function showText(element: HTMLElement, text: string | false | undefined): void {
  element.hidden = !text
  setText(element, text || '')
}

/** As `setText`, for what is known, which is broken between two facts where a line is too long; gives what is shown. */
export function setFacts(element: Element, known: readonly (string | false)[]): string[] {
  const facts = known.filter((fact) => fact !== false)
  if (element.textContent !== facts.join(''))
    element.replaceChildren(...facts.map((fact) => build('span', '', {}, fact)))
  return facts
}

/** As `setText`, for an attribute; undefined removes it. */
export function setAttribute(element: Element, name: string, value: string | undefined): void {
  if (element.getAttribute(name) === (value ?? null)) return
  if (value === undefined) element.removeAttribute(name)
  else element.setAttribute(name, value)
}
