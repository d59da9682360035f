// `npm run openapi`: writes the document that the service serves at /openapi.json.

import { readFileSync, writeFileSync } from 'node:fs'

import { format } from 'prettier'

import { openApiDocument } from './openapi-document.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const text = await format(JSON.stringify(openApiDocument(version)), { parser: 'json', printWidth: 120 })
writeFileSync('src/service/openapi.json', text)
