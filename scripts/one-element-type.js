// Runs after a build and removes the mark of private fields from the element's declarations. The class is declared
// twice, for `import` and for `require`, and both declare the tag in the page's one map of tags. With the mark,
// TypeScript takes them for two different types (TS2717).

import { existsSync, readFileSync, writeFileSync } from 'node:fs'

for (const path of ['dist/element.d.ts', 'dist/element.d.cts']) {
  if (existsSync(path)) writeFileSync(path, readFileSync(path, 'utf8').replace(/^ *#private;\n/m, ''))
}
