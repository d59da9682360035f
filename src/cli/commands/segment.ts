// `mocap-uplink segment`: makes and changes the player group segments from which analyses are made.

import type { Command } from 'commander'
import { checkDomHand, checkText } from '../../client/checks.ts'
import { given } from '../../core/given.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { parseId, parseInteger, readObjectOption } from '../options/option-values.ts'
import { addServiceOptions, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import { answerTo } from '../single-call.ts'

interface CreateOptions extends SharedOptions {
  readonly movementType: string
  readonly domHand: string
  readonly movement?: string[]
}

interface UpdateOptions extends SharedOptions {
  readonly data: string
}

export function addSegmentCommand(program: Command, context: CommandContext): void {
  const segment = program
    .command('segment')
    .description('make and change player group segments, from which analyses are made')
  const create = segment
    .command('create')
    .description("make a segment; prints the service's record")
    .requiredOption('--movement-type <n>', 'id of the movement type')
    .requiredOption('--dom-hand <hand>', 'RHA (right-handed) or LHA (left-handed)')
    .option('--movement <id>', 'a movement to include; may be given again', (id: string, ids: string[] | undefined) => [
      ...(ids ?? []),
      id,
    ])
  addServiceOptions(create).action((options: CreateOptions) => createSegment(context, options))
  const update = segment
    .command('update')
    .description("change a segment; prints the service's reply")
    .argument('<id>', 'analysis_segment_id')
    .requiredOption('--data <json>', 'the fields to change, as JSON or @FILE')
  addServiceOptions(update).action((id: string, options: UpdateOptions) => updateSegment(context, id, options))
}

async function createSegment(context: CommandContext, options: CreateOptions): Promise<void> {
  const output = context.begin('segment', options)
  const input = {
    movementTypeId: parseInteger(options.movementType, '--movement-type'),
    domHand: checkDomHand(options.domHand, '--dom-hand'),
    ...given({ orgMovementIds: options.movement?.map((id) => checkText(id, '--movement')) }),
  }
  const made = await answerTo(context, output, options, {
    flow: 'segment',
    shown: 'POST /player_group_segments',
    doubt: {
      words: 'The segment may have been made. The same command makes another one; nothing uses the first.',
      field: 'hasPossibleSegment',
    },
    make: (client, calling) => client.playerGroupSegments.create(input, calling),
  })
  if (made === undefined) return
  const { analysisSegmentId, ...rest } = made
  printSegment(output, analysisSegmentId, { analysis_segment_id: analysisSegmentId, ...rest })
}

async function updateSegment(context: CommandContext, text: string, options: UpdateOptions): Promise<void> {
  const output = context.begin('segment', options)
  const id = parseId(text, 'the segment id', 'mocap-uplink segment create prints')
  const data = await interruptible(readObjectOption(options.data, '--data'), context.interruption)
  const record = await answerTo(context, output, options, {
    flow: 'segment',
    shown: `PATCH /player_group_segments/${id}`,
    doubt: { words: 'The change may have been made. The same command makes it again.', field: 'hasPossibleChange' },
    make: (client, calling) => client.playerGroupSegments.update({ id, data }, calling),
  })
  if (record !== undefined) printSegment(output, record['analysis_segment_id'] ?? id, record)
}

function printSegment(output: Output, segmentId: unknown, record: Readonly<Record<string, unknown>>): void {
  output.document(record)
  output.event('result', { flow: 'segment', status: 'completed', segmentId, record })
}
