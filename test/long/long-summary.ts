// The end of a long run in a few lines: what passed, failed or was skipped and why, how long it took, and the seed.

import { basename } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** A line for each file, after everything else that is printed. */
export function longSummary(): Reporter {
  return {
    onTestRunEnd(modules, errors) {
      const lines = modules.map(lineOf)
      if (errors.length > 0) lines.push(`FAILED   outside of any test: ${String(errors.length)}`)
      const seed = process.env['FC_SEED'] ?? ''
      process.stdout.write(`\nThe long run, replayed with FC_SEED=${seed}:\n${lines.join('\n')}\n`)
    },
  }
}

function lineOf(module: TestModule): string {
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
  const notes = new Set<string>()
  for (const test of module.children.allTests()) {
    const result = test.result()
    counts[result.state] += 1
    if (result.state === 'skipped' && result.note !== undefined) notes.add(result.note)
  }
  // A hook that fails is counted to no test.
  const isFailed = counts.failed > 0 || module.state() === 'failed'
  const word = isFailed ? 'FAILED' : counts.skipped > 0 ? 'SKIPPED' : 'passed'
  const told = Object.entries(counts).flatMap(([state, count]) => (count > 0 ? [`${String(count)} ${state}`] : []))
  const seconds = Math.round(module.diagnostic().duration / 1_000)
  const why = [...notes].map((note) => `\n         ${note}`).join('')
  return `${word.padEnd(8)} ${module.project.name}, ${basename(module.moduleId)}: ${told.join(', ') || 'no test ran'}, ${String(seconds)} s${why}`
}
