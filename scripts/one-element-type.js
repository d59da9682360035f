// After a build: takes the mark of private fields out of the element's declarations. The class is declared for `import` and for
// `require`, both name the tag in the one map of the page, and with that mark TypeScript holds them for two types (TS2717).

import { existsSync, readFileSync, writeFileSync } from 'node:fs'

for (const path of ['dist/element.d.ts', 'dist/element.d.cts']) {
  if (existsSync(path)) writeFileSync(path, readFileSync(path, 'utf8').replace(/^ *#private;\n/m, ''))
}
