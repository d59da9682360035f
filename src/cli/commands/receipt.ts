// `mocap-uplink receipt`: shows what a session delivered, and proves local files against such a receipt.

import type { Command } from 'commander'
import { interruptible, type CommandContext } from '../command-context.ts'
import { EXIT } from '../exit-codes.ts'
import { tellSkipped } from '../found-files.ts'
import { addBelow } from '../views/help-texts.ts'
import { keptSessions, readableSession } from '../kept-sessions.ts'
import { addOutputOptions, addStateOption, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import type { FileProof } from '../receipt-check.ts'
import { checkReceiptPath, receiptOf, saveReceipt } from '../receipt-file.ts'
import { countOf } from '../views/wording.ts'

type ReceiptOptions = Pick<SharedOptions, 'stateDir' | 'json' | 'quiet'> & { readonly output?: string }

const CHECK_HELP =
  'Ends with 0 when every file that the receipt says is confirmed was given and is proven byte for byte, ' +
  'with 1 when one differs, is missing or cannot be proven. Files that it does not know are not looked at: before you ' +
  'erase a card, see that its upload ended with 0, too.'

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
    const kept = keptSessions(options, context)
    if (options.output !== undefined)
      await interruptible(checkReceiptPath(options.output, '--output'), context.interruption)
    await readableSession(kept, key)
    const made = await receiptOf(kept.journal, key)
    if (options.output === undefined) {
      output.event('receipt', { receipt: made })
      output.document(made)
    } else {
      await interruptible(saveReceipt(options.output, made), context.interruption)
      output.answer(`${options.output}: ${countOf(made.files.length, 'file')}`)
    }
    output.event('result', { flow: 'receipt', status: made.status, key })
  })
  const check = receipt
    .command('check')
    .description('prove local files against a receipt')
    .argument('<receipt>', 'a receipt file')
    .argument('<path...>', 'the files, or folders of them')
  addBelow(check, CHECK_HELP)
  addOutputOptions(check).action(async (file: string, paths: string[], options: ReceiptOptions) => {
    const output = context.begin('receipt', options)
    // Imported only here: no other command reads a schema.
    const { filesToProve, readReceipt } = await import('../receipt-check.ts')
    const { proveAll } = await import('../receipt-match.ts')
    const delivered = await interruptible(readReceipt(file), context.interruption)
    const proveEach = async (): Promise<FileProof[]> => {
      const { files, skipped } = await filesToProve(paths)
      for (const entry of skipped) tellSkipped(output, entry)
      const proofs: FileProof[] = []
      for await (const proof of proveAll(delivered.files, files)) {
        proofs.push(proof)
        tell(output, proof)
      }
      return proofs
    }
    const proofs = await interruptible(proveEach(), context.interruption)
    const count = proofs.filter(({ outcome }) => outcome === 'proven').length
    const isProven = count > 0 && proofs.every(isWell)
    output.answer(`${String(count)} of ${countOf(proofs.length, 'file')} proven`)
    output.event('result', {
      flow: 'receipt',
      status: isProven ? 'confirmed' : 'failed',
      key: delivered.key,
      files: proofs,
    })
    context.exitWith(isProven ? EXIT.done : EXIT.failed)
  })
}

function isWell({ outcome }: FileProof): boolean {
  return outcome === 'proven' || outcome === 'notDelivered'
}

const WORDS: Readonly<Record<FileProof['outcome'], string>> = {
  proven: 'proven',
  unproven: 'not proven',
  differs: 'differs',
  missing: 'missing',
  notDelivered: 'was not delivered',
}

/** Prints the outcome for one file. A file that is not as it was sent is printed with `--quiet` too: the command is run to find it. */
function tell(output: Output, proof: FileProof): void {
  const { name, outcome, reason } = proof
  const line = `${WORDS[outcome]} ${name}${reason === undefined ? '' : `: ${reason}`}`
  if (isWell(proof)) output.say(line)
  else output.answer(line)
}
