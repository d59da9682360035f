// Commander's Command where it would mislead: a misspelt option, several missing ones, and the help of a command under a command.

import { Command, type ErrorOptions, type ParseOptionsResult } from 'commander'

/**
 * A command that complains of an unknown option before a missing one, and of all missing ones at once. The commands added to it do
 * so too.
 */
export class UplinkCommand extends Command {
  #hasUnknown = false

  override createCommand(name?: string): UplinkCommand {
    return new UplinkCommand(name)
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(args)
    this.#hasUnknown = parsed.unknown.length > 0
    return parsed
  }

  override error(message: string, options?: ErrorOptions): never {
    const code = options?.code
    // Whoever misspells a required option is told of the misspelling: commander complains of it next, if this does not throw.
    const isMissing = code === 'commander.missingMandatoryOptionValue'
    if (isMissing && this.#hasUnknown) return undefined as never
    if (isMissing) return super.error(this.#missing() ?? message, options)
    const early = code === 'commander.unknownOption' ? this.#early(message) : undefined
    if (early !== undefined) return super.error(`${early}: give options after the command`, options)
    const isCommandMeant = code === 'commander.excessArguments' && this.commands.length > 0
    // Commander's own, which suggests a similar one. Its types do not show it.
    if (isCommandMeant) return (this as unknown as { unknownCommand(): never }).unknownCommand()
    return super.error(message, options)
  }

  /**
   * The complaint of an option that may belong to a command behind it, because other programs take options there. A similar one of
   * this program is meant only where the command has none of this name.
   */
  #early(message: string): string | undefined {
    const command = this.args.map((word) => commandAt(this, [word])).find((found) => found !== this)
    if (command === undefined) return undefined
    const [complaint = '', similar] = message.split('\n')
    const name = /'([^'=]*)/.exec(complaint)?.[1]
    const isOfCommand = command.options.some(({ long }) => long === name)
    return similar === undefined || isOfCommand ? complaint : undefined
  }

  /** Names all required options that are missing. Commander names the first, and the next one at the next try. */
  #missing(): string | undefined {
    const missing = this.options.filter(
      (option) => option.mandatory && this.getOptionValue(option.attributeName()) === undefined,
    )
    if (missing.length < 2) return undefined
    return `error: required options ${missing.map(({ flags }) => `'${flags}'`).join(', ')} not specified`
  }
}

/** Adds `help` for commands at any depth, after the commands of the program. An unknown one is reported as if it had been called. */
export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('display help for a command')
    .argument('[command...]', 'such as: analysis request')
    .action(async (names: readonly string[]) => {
      const command = commandAt(program, names)
      const [unknown] = names.slice(pathOf(command).length)
      // A command with others below it takes no arguments, so this one is refused.
      if (unknown !== undefined && command.commands.length > 0) await command.parseAsync([unknown], { from: 'user' })
      command.help()
    })
}

/** The command that these arguments begin with, as deep as they name one: the program itself if they name none. */
export function commandAt(program: Command, args: readonly string[]): Command {
  const next = program.commands.find((command) => command.name() === args[0])
  return next === undefined ? program : commandAt(next, args.slice(1))
}

/** The arguments with `--help` behind the command that it stands before: commander would show the help of the whole program. */
export function helpLast(program: Command, args: readonly string[]): readonly string[] {
  const [first = '', ...others] = args
  return /^(?:-h|--help)$/.test(first) && commandAt(program, others) !== program ? [...others, first] : args
}

/** The names of a command below the program, such as `analysis` and `request`. */
export function pathOf(command: Command): string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()]
}
