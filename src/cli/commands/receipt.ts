// `mocap-uplink receipt`: shows what a session delivered, and proves local files against such a receipt.

import type { Command } from 'commander'
import { filesUnder } from '../../adapters/node/files/directory.ts'
import type { CommandContext } from '../command-context.ts'
import { EXIT } from '../exit-codes.ts'
import { addBelow } from '../views/help-texts.ts'
import { keptSessions, readableSession } from '../kept-sessions.ts'
import { addOutputOptions, addStateOption, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import type { FileProof } from '../receipt-check.ts'
import { receiptOf, saveReceipt } from '../receipt-file.ts'
import { countOf } from '../views/wording.ts'

type ReceiptOptions = Pick<SharedOptions, 'stateDir' | 'json' | 'quiet'> & { readonly output?: string }

const CHECK_HELP =
  'Ends with 0 when every file that the receipt says is confirmed was given and is proven byte for byte, ' +
  'with 1 when one differs, is missing or cannot be proven.'

export function addReceiptCommand(program: Command, context: CommandContext): void {
  const receipt = program.command('receipt').description('show what a session delivered, and check files against it')
  const show = receipt
    .command('show')
    .description('print the receipt of a session: every file, part, ETag and digest; no address')
    .argument('<key>', 'a session, as `mocap-uplink sessions` lists it')
    .option('--output <file>', 'write it to a file instead')
  addStateOption(show)
  addOutputOptions(show).action(async (key: string, options: ReceiptOptions) => {
    const output = context.begin('receipt', options)
    const kept = keptSessions(options, context.env)
    await readableSession(kept, key)
    const made = await receiptOf(kept.journal, key)
    if (options.output === undefined) {
      output.event('receipt', { receipt: made })
      output.document(made)
    } else {
      await saveReceipt(options.output, made)
      output.answer(`${options.output}: ${countOf(made.files.length, 'file')}`)
    }
    output.event('result', { flow: 'receipt', status: made.status, key })
    context.exitWith(EXIT.done)
  })
  const check = receipt
    .command('check')
    .description('prove local files against a receipt')
    .argument('<receipt>', 'a receipt file')
    .argument('<path...>', 'the files, or folders of them')
  addBelow(check, CHECK_HELP)
  addOutputOptions(check).action(async (file: string, paths: string[], options: ReceiptOptions) => {
    const output = context.begin('receipt', options)
    // Only here: nothing else of the command reads a schema.
    const { readReceipt } = await import('../receipt-check.ts')
    const { proveAll } = await import('../receipt-match.ts')
    const delivered = await readReceipt(file)
    const { files } = await filesUnder(paths)
    const proofs: FileProof[] = []
    for await (const proof of proveAll(delivered.files, files)) {
      proofs.push(proof)
      tell(output, proof)
    }
    const isProven = proofs.every(({ outcome }) => outcome === 'proven' || outcome === 'notDelivered')
    const count = proofs.filter(({ outcome }) => outcome === 'proven').length
    output.answer(`${String(count)} of ${countOf(proofs.length, 'file')} proven`)
    output.event('result', {
      flow: 'receipt',
      status: isProven ? 'confirmed' : 'failed',
      key: delivered.key,
      files: proofs,
    })
    context.exitWith(isProven && count > 0 ? EXIT.done : EXIT.failed)
  })
}

const WORDS: Readonly<Record<FileProof['outcome'], string>> = {
  proven: 'proven',
  unproven: 'not proven',
  differs: 'differs',
  missing: 'missing',
  notDelivered: 'was not delivered',
}

function tell(output: Output, { name, outcome, reason }: FileProof): void {
  output.say(`${WORDS[outcome]} ${name}${reason === undefined ? '' : `: ${reason}`}`)
}
