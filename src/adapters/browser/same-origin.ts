// Whether a page may read all of what answers at an address.

/** True for an address of the page's own origin: no CORS rule decides there. */
export function isSameOrigin(url: string): boolean {
  return new URL(url).origin === origin
}
