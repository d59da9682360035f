// A question to the person at the terminal, if there is one.

import { createInterface } from 'node:readline'
import { unlessAborted } from '../core/unless-aborted.ts'

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

const THIS_TERMINAL: Terminal = { input: process.stdin, output: process.stderr }

/** Whether somebody can read a question and answer it. */
export function hasPerson({ input, output }: Terminal = THIS_TERMINAL): boolean {
  return input.isTTY === true && output.isTTY === true
}

/**
 * Resolves with true for `y` or `yes`, and with false for any other line or the end of the input. Rejects with the signal's reason
 * if it fires first.
 */
export async function askPerson(
  question: string,
  signal: AbortSignal,
  { input, output }: Terminal = THIS_TERMINAL,
): Promise<boolean> {
  // Not in terminal mode, so that Ctrl-C stays a signal.
  const lines = createInterface({ input, terminal: false })
  output.write(`${question} [y/N] `)
  let answer: string | undefined
  try {
    const line = new Promise<string | undefined>((resolve) =>
      lines.once('line', resolve).once('close', () => resolve(undefined)),
    )
    answer = await unlessAborted(line, signal)
    return /^y(es)?$/i.test(answer?.trim() ?? '')
  } finally {
    lines.close()
    // Whoever answers ends the line. After Ctrl-C or Ctrl-D, what comes next would begin in it.
    if (answer === undefined) output.write('\n')
  }
}
