// Runs one command line from its arguments to an exit code. Whatever goes wrong becomes one line on stderr, and with
// `--json` a result on stdout too.

import { existsSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setImmediate as turnEnds } from 'node:timers/promises'
import { CommanderError } from 'commander'
import { adviceOn } from '../core/advice.ts'
import { redactText } from '../core/redact.ts'
import { UploadError, isUploadError } from '../core/errors.ts'
import { commandAt, helpLast, pathOf } from './command.ts'
import { COMMAND_FLOWS, type CommandContext, type CommandFlow } from './command-context.ts'
import { refuseSecretsOnCommandLine } from './options/credentials-from-options.ts'
import { errorLine, fullLine } from './views/error-line.ts'
import { EXIT, SIGNAL_EXIT, exitCodeOfError } from './exit-codes.ts'
import { createOutput, type Output } from './views/output.ts'
import { createProgram } from './program.ts'
import { listenForSignals, type Interruption } from './signals.ts'

/** Runs the command of this process and ends it with the right exit code. Never rejects. */
export async function runCli(args: readonly string[]): Promise<void> {
  const { stdout, stderr, env } = process
  const interruption = listenForSignals()
  const open = (isJson: boolean, isQuiet: boolean) => createOutput({ isJson, isQuiet, stdout, stderr, env })
  // Until a command begins, its options are not known. A mistake in them must still be reported in the right form.
  let output = open(hasFlag(args, '--json'), false)
  let flow: CommandFlow | null = flowOf(args[0])
  let exitCode: number = EXIT.done
  const added: Record<string, unknown> = {}
  const context: CommandContext = {
    env,
    interruption,
    begin(name, options) {
      flow = name
      output = open(options.json ?? false, options.quiet ?? false)
      return output
    },
    addToResult: (fields) => void Object.assign(added, fields),
    exitWith: (code) => void (exitCode = code),
  }
  const end = async (code: number): Promise<void> => {
    // A thread whose answer has led here counts as away until this turn is over. Signals that come meanwhile change nothing.
    await turnEnds()
    interruption.end(code, (text) => output.complain(text))
  }
  const beganAtMs = performance.now()
  const program = createProgram(context)
  const ending = (): Ending => {
    const named = args[0] === 'help' ? args.slice(1) : args
    const command = pathOf(commandAt(program, named)).join(' ')
    return { output, flow, command, interruption, added, durationMs: Math.round(performance.now() - beganAtMs) }
  }
  process.on('uncaughtException', (error) => {
    tellFailed(error, ending())
    void output.flushed().then(() => end(EXIT.failed))
  })
  try {
    refuseSecretsOnCommandLine(args)
    await program.parseAsync([...helpLast(program, args)], { from: 'user' })
  } catch (error) {
    exitCode = tellEnd(error, ending())
  }
  await output.flushed()
  const isForLines = output.isForDocument || isListing(flow) || hasFlag(args, '--dry-run')
  if (output.hasLost && exitCode === EXIT.done && isForLines) exitCode = EXIT.failed
  // Connections that are kept open for the next request would keep the process alive for a while.
  await end(exitCode)
}

interface Ending {
  readonly output: Output
  readonly flow: CommandFlow | null
  /** What was called, such as `analysis request`. Empty if there is no such command. */
  readonly command: string
  readonly interruption: Interruption
  /** What the command knows of its end. */
  readonly added: Readonly<Record<string, unknown>>
  readonly durationMs: number
}

/** Reports why a command ended early. Returns the exit code. */
function tellEnd(error: unknown, ending: Ending): number {
  const { output, flow, command, interruption } = ending
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
  // Commander has printed the help because no command was given. It says what to do.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.wrongUse
  const { reason } = interruption
  if (reason !== undefined) {
    output.complain(`Interrupted by ${reason}.`)
    output.event('result', { flow, status: 'interrupted', ...restOf(ending) })
    return SIGNAL_EXIT[reason]
  }
  const known = error instanceof CommanderError ? wrongUse(error, command) : error
  tellFailed(known, ending)
  return exitCodeOfError(known)
}

function tellFailed(error: unknown, ending: Ending): void {
  const { output, flow } = ending
  tellError(output, error)
  const told = { ...errorLine(error), ...ofService(error) }
  output.event('result', { flow, status: 'failed', ...restOf(ending), error: told })
}

/** The fields of the result of a command that has no result of its own. */
function restOf({ durationMs, added }: Ending) {
  return { key: null, sessionId: null, bytes: 0, durationMs, files: [], ...added }
}

function tellError(output: Output, error: unknown): void {
  const told = errorLine(error)
  const code = ofService(error)?.code
  const line = code === undefined ? told.message : `${told.message} (${code})`
  output.complain(`error: ${isUploadError(error) ? fullLine(told) : line}`)
  if (!process.env['MOCAP_DEBUG'] || !(error instanceof Error)) return
  for (const line of redactText(error.stack ?? '').split('\n')) output.complain(line)
}

/** The code of a service that cannot start, by which docs/service.md calls it. It is no mistake of ours that one should report. */
function ofService(error: unknown): { readonly code: string; readonly advice: string } | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('ERR_SERVICE_') ? { code, advice: adviceOn('ERR_UPLOAD_INVALID_ARGUMENT') } : undefined
}

/**
 * Commander's message on one line, followed by how to get the help of the command that was meant. Commander's prefix and the
 * value of an unknown option are removed. Where a shell has put a file's name among the arguments, such as one of `*.mp4`, it says how
 * that is given.
 */
function wrongUse(error: CommanderError, command: string): UploadError {
  const message = error.message
    .replace(/^error: /, '')
    .replace(/^(unknown option '[^=]*)=.*'/s, "$1=…'")
    .replace(/\n\(Did you mean (.*)\?\)$/, ', did you mean $1?')
  const [, option = ''] = /^error: unknown option '(.*)'/.exec(error.message) ?? []
  const file = existsSync(option) ? ` If the file is meant, give it as ./${option}.` : ''
  const help = command === '' ? 'mocap-uplink --help' : `mocap-uplink help ${command}`
  return new UploadError(
    'ERR_UPLOAD_INVALID_ARGUMENT',
    `${message.replace(/[.?]?$/, (end) => end || '.')}${file} See ${help}.`,
  )
}

/** Whether a command is run only for its lines. Other commands that print no document count by what they have done. */
function isListing(flow: CommandFlow | null): boolean {
  return flow === 'receipt' || flow === 'sessions'
}

function hasFlag(args: readonly string[], flag: string): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? undefined : end).includes(flag)
}

function flowOf(name: string | undefined): CommandFlow | null {
  return COMMAND_FLOWS.find((flow) => flow === name) ?? null
}
