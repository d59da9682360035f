// Which methods a path has, so that one which it has not is told from a path that there is not (RFC 9110, 15.5.6).

import type { FastifyInstance } from 'fastify'

/** Notes all routes that are added from now on. Returns the methods of a path, in alphabetical order; none if no route has it. */
export function noteMethods(app: FastifyInstance): (path: string) => readonly string[] {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    // Every path has OPTIONS, for preflights.
    if (url === '*') return
    const pattern = new RegExp(`^${url.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`)
    for (const one of [method].flat()) routes.push({ method: one, pattern })
  })
  return (path) => {
    const found = routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    return [...new Set(found)].toSorted()
  }
}
