// Runs independent scripts of package.json in parallel: `node scripts/at-once.js check build`. The output of each is printed whole
// when it ends, so that outputs do not mix. All run to their end even if one fails, so that one run reports everything that is wrong.

import { spawn } from 'node:child_process'

const run = (name) =>
  new Promise((settle) => {
    const child = spawn(`npm run --silent ${name}`, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = []
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => said.push(text))
    child.on('error', (error) => said.push(`${error.message}\n`))
    child.on('close', (code) => {
      process.stdout.write(said.join(''))
      if (code !== 0) process.stdout.write(`npm run ${name} failed: ${code ?? 'killed'}\n`)
      settle(code)
    })
  })

const codes = await Promise.all(process.argv.slice(2).map(run))
process.exitCode = codes.every((code) => code === 0) ? 0 : 1
