// `mocap-uplink api`: makes any other call of the service, with its credentials.

import type { Command } from 'commander'
import { invalid } from '../../core/errors.ts'
import { given } from '../../core/given.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { readJsonOption } from '../options/option-values.ts'
import { addServiceOptions, type SharedOptions } from '../options/options.ts'
import { answerTo } from '../single-call.ts'

interface ApiOptions extends SharedOptions {
  readonly data?: string
}

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const DOUBT = {
  words: 'The service may have done it all the same. Look before you call it again.',
  field: 'hasPossibleChange',
} as const

export function addApiCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('api')
    .description("make any other call of the service; prints its JSON, with --json as an event 'reply'")
    .argument('<method>', METHODS.join(', '))
    .argument('<path>', 'below the base URL, with or without a query: /movement_types?limit=10')
    .option('--data <json>', 'the body, as JSON or @FILE')
  addServiceOptions(command).action(async (method: string, path: string, options: ApiOptions) => {
    const output = context.begin('api', options)
    const verb = method.toUpperCase()
    if (!METHODS.includes(verb)) invalid(`The method is unknown: give one of ${METHODS.join(', ')}.`)
    if (!path.startsWith('/')) invalid('The path must begin with a slash, such as /movement_types.')
    const data =
      options.data === undefined
        ? undefined
        : await interruptible(readJsonOption(options.data, '--data'), context.interruption)
    const { plainPath, query } = splitQuery(path)
    const reply = await answerTo(context, output, options, {
      flow: 'api',
      shown: `${verb} ${plainPath}`,
      doubt: verb === 'GET' ? undefined : DOUBT,
      make: (client, calling) => client.call(verb, plainPath, { query, ...calling, ...given({ data }) }),
    })
    if (reply === undefined) return
    if (reply.data !== undefined) output.document(reply.data)
    output.event('reply', { status: reply.status, data: reply.data ?? null })
    output.event('result', { flow: 'api', status: 'completed', httpStatus: reply.status })
  })
}

function splitQuery(path: string): { plainPath: string; query: Record<string, string[]> } {
  const mark = path.indexOf('?')
  if (mark < 0) return { plainPath: path, query: {} }
  const search = new URLSearchParams(path.slice(mark + 1))
  const entries = [...new Set(search.keys())].map((name) => [name, search.getAll(name)] as const)
  return { plainPath: path.slice(0, mark), query: Object.fromEntries(entries) }
}
