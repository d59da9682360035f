// The options of the project's own commands, as `npm run NAME -- …` passes them on.

import { parseArgs, type ParseArgsConfig } from 'node:util'

/**
 * Parses this process's arguments. Ends the process after printing `usage` if it is asked for by `--help` or `-h`, and with exit
 * code 2 after saying what is wrong if an argument does not fit `config` or `problemOf` names a problem.
 */
export function commandOptions<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
  problemOf: (parsed: ReturnType<typeof parseArgs<Config>>) => string | undefined = () => undefined,
): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(usage)
    process.exit(0)
  }
  const refuse = (problem: string): never => {
    process.stderr.write(`${problem}\n\n${usage}`)
    process.exit(2)
  }
  try {
    const parsed = parseArgs<Config>(config)
    const problem = problemOf(parsed)
    return problem === undefined ? parsed : refuse(problem)
  } catch (error) {
    return refuse((error as Error).message)
  }
}

/** What is wrong with a value that must be a whole number from `least` on, or undefined. */
export function wholeNumberProblem(name: string, value: string | undefined, least = 0): string | undefined {
  const isWhole = value === undefined || (/^\d{1,10}$/.test(value) && Number(value) >= least)
  return isWhole ? undefined : `${name} must be a whole number from ${least} on, of at most ten digits.`
}
