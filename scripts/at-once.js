// Runs scripts of package.json beside each other, for what does not wait for one another: `node scripts/at-once.js check build`. What
// one says comes whole when it ends, so that two do not talk at once; all end before it fails, so that one run tells all that is wrong.

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
