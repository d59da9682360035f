// Whether a page may read all of what answers at an address.

/** True for an address of the page's own origin, where no CORS rule decides. */
export function isSameOrigin(url: string): boolean {
  return new URL(url).origin === origin
}
