// `mocap-uplink receipt`: shows what a session delivered, and proves local files against such a receipt.

import { resolve } from 'node:path'

import type { Command } from 'commander'
import type { FoundFile } from '../../adapters/node/files/directory.ts'
import { interruptible, type CommandContext } from '../command-context.ts'
import { EXIT } from '../exit-codes.ts'
import { firstOf, tellSkipped } from '../found-files.ts'
import { addBelow } from '../views/help-texts.ts'
import { keptSessions, readableSession } from '../kept-sessions.ts'
import { addOutputOptions, addStateOption, type SharedOptions } from '../options/options.ts'
import type { Output } from '../views/output.ts'
import type { FileProof } from '../receipt-check.ts'
import { checkReceiptPath, receiptOf, saveReceipt } from '../receipt-file.ts'
import { countOf } from '../views/wording.ts'

type ReceiptOptions = Pick<SharedOptions, 'stateDir' | 'json' | 'quiet'> & { readonly output?: string }

const CHECK_HELP =
  'Ends with 0 when every file of the receipt was given and is proven byte for byte, with 1 when one differs, is missing or ' +
  'cannot be proven, and with 3 when all others are proven but one was not delivered. ' +
  'Files that the receipt does not have are named unless they are junk, and change none of this.'

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
    const proveEach = async () => {
      const { files, skipped } = await filesToProve(paths)
      for (const entry of skipped) tellSkipped(output, entry)
      const proofs: FileProof[] = []
      for await (const proof of proveAll(delivered.files, files)) {
        proofs.push(proof)
        tell(output, proof)
      }
      const others = othersAmong(files, proofs, file)
      for (const path of others) output.event('skipped', { path, reason: 'not in the receipt' })
      return { proofs, others }
    }
    const { proofs, others } = await interruptible(proveEach(), context.interruption)
    const count = proofs.filter(({ outcome }) => outcome === 'proven').length
    const beside = others.length === 0 ? '' : `. Not in the receipt: ${firstOf(others, 'file')}`
    output.answer(`${String(count)} of ${countOf(proofs.length, 'file')} proven${beside}`)
    const status = statusOf(proofs)
    output.event('result', { flow: 'receipt', status, key: delivered.key, files: proofs })
    context.exitWith({ confirmed: EXIT.done, partial: EXIT.partial, failed: EXIT.failed }[status])
  })
}

function statusOf(proofs: readonly FileProof[]): 'confirmed' | 'partial' | 'failed' {
  const count = (wanted: FileProof['outcome']) => proofs.filter(({ outcome }) => outcome === wanted).length
  const [proven, undelivered] = [count('proven'), count('notDelivered')]
  if (proven === 0 || proven + undelivered < proofs.length) return 'failed'
  return undelivered === 0 ? 'confirmed' : 'partial'
}

/**
 * The files that stand for no entry: who deletes what was proven must not take them for delivered. Where an entry is not proven, any
 * file of its name may be the one. Junk, such as a .DS_Store, is in every folder: the others would not be seen among it.
 */
function othersAmong(files: readonly FoundFile[], proofs: readonly FileProof[], receipt: string): readonly string[] {
  const known = new Set([receipt, ...proofs.flatMap(({ path }) => path ?? [])].map((path) => resolve(path)))
  const open = new Set(proofs.flatMap(({ name, outcome }) => (outcome === 'proven' ? [] : [name])))
  const others = files.filter(({ path, name, isJunk }) => {
    const place = resolve(path)
    if (isJunk === true || known.has(place) || open.has(name)) return false
    // Once, even if it also lies in a folder that is given.
    known.add(place)
    return true
  })
  return others.map(({ path }) => path)
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
  if (outcome === 'proven') output.say(line)
  else output.answer(line)
}
