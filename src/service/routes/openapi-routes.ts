// The interface for machines and for people: the OpenAPI document generated from the contract (npm run openapi), and a page that
// shows it without any script. Both are public, so neither needs a credential.

import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

import { escapeMarkup } from '../http/replies.ts'
import document from '../openapi.json' with { type: 'json' }

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
summary{cursor:pointer;padding:.4rem 0;font-family:ui-monospace,monospace}summary b{display:inline-block;width:4.5rem}
pre{overflow:auto;padding:1rem;background:#f4f4f4}a{color:#0b57d0}`

/** Allows nothing but the page's own style: it has no script, picture or form, and cannot be framed. */
const POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Adds GET /openapi.json and GET /docs. */
export function openApiRoutes(app: FastifyInstance): void {
  // As bytes, of which any number of slow readers share one copy.
  const json = Buffer.from(JSON.stringify(document))
  const page = Buffer.from(pageOf())
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(json))
  app.get('/docs', (_request, reply) =>
    reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page),
  )
}

function pageOf(): string {
  const { info, paths, components } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as object })),
  )
  const sections = [
    ...operations.map(({ path, method, operation }) =>
      detail(`<b>${escapeMarkup(method.toUpperCase())}</b> ${escapeMarkup(path)}`, operation),
    ),
    '<h2>Bodies</h2>',
    ...Object.entries(components.schemas).map(([name, schema]) => detail(escapeMarkup(name), schema)),
  ]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeMarkup(info.title)}</title><style>${STYLE}</style></head>
<body><h1>${escapeMarkup(info.title)}</h1><p>${escapeMarkup(info.description)}</p>
<p>For machines: <a href="openapi.json">openapi.json</a> (OpenAPI ${document.openapi}, version ${escapeMarkup(info.version)})</p>
<h2>Operations</h2>
${sections.join('\n')}
</body></html>
`
}

function detail(summary: string, content: object): string {
  return `<details><summary>${summary}</summary><pre>${escapeMarkup(JSON.stringify(content, null, 2))}</pre></details>`
}
