// What the options about sending mean for the engine, and where their limits are.

import { Command } from 'commander'
import { expect, it } from 'vitest'

import { asOption, parseDecimal, parseDuration, parseId, parseInteger } from '../../../src/cli/options/option-values.ts'
import { addTransferOptions, engineChoices, type SharedOptions } from '../../../src/cli/options/options.ts'
import { invalid, UploadError } from '../../../src/core/errors.ts'

it('leave the engine its own defaults where they are not given, but for the time after which a host is given up', () => {
  const usual = { giveUpAfterMs: 43_200_000, isFirstContactAwaited: false, verify: 'md5' }

  expect(engineChoices({})).toEqual(usual)
  // As commander fills them in.
  const command = addTransferOptions(new Command()).parse([], { from: 'user' })
  expect(engineChoices(command.opts<SharedOptions>())).toEqual({ ...usual, concurrency: 'auto' })
})

it('are given to the engine as they are said', () => {
  const said: SharedOptions = {
    ...{ partSize: '5MiB', concurrency: ' 64 ', limitRate: '08:00,512KB 23:00,off', retries: '1' },
    ...{ background: true, giveUpAfter: '90s', verify: 'full' },
  }

  expect(engineChoices(said)).toEqual({
    ...{ partSizeBytes: 5_242_880, concurrency: 64, limitRate: '08:00,512KB 23:00,off', retries: 1 },
    ...{ isBackground: true, giveUpAfterMs: 90_000, isFirstContactAwaited: true, verify: 'full' },
  })
  expect(engineChoices({ concurrency: '1' })).toMatchObject({ concurrency: 1 })
})

it.each<[SharedOptions, RegExp]>([
  [{ concurrency: '0' }, /^--concurrency is "0": give a whole number from 1 to 64, or auto\.$/],
  [{ concurrency: '65' }, /^--concurrency is "65": /],
  [{ concurrency: '4.5' }, /^--concurrency is "4\.5": /],
  [{ concurrency: '1e1' }, /^--concurrency is "1e1": /],
  [{ retries: '0' }, /^--retries is "0": give a whole number of 1 or more\.$/],
  [
    { retries: '9007199254740992' },
    /^--retries is "9007199254740992": give a whole number of at most 9007199254740991\.$/,
  ],
  [{ partSize: '5242879' }, /^--part-size must be a whole number of bytes from 5242880 /],
  [{ partSize: '0' }, /^--part-size must be a whole number of bytes from 5242880 /],
  [{ partSize: '16 Mb' }, /^--part-size: "16 Mb" is a number of bits; /],
  [{ limitRate: '0' }, /^--limit-rate must be at least 1 byte a second, not 0\./],
  [{ limitRate: '08:00,512KB' }, /^--limit-rate has a single time, /],
  [{ giveUpAfter: '99999999d' }, /^--give-up-after is "99999999d": give a time of at most 1000000d\.$/],
  [{ giveUpAfter: '12' }, /^--give-up-after is "12": give a time with its unit, such as 90s, 30m, 12h or 2d\.$/],
])('%j is refused by the name of the option', (said, words) => {
  expect(() => engineChoices(said)).toThrow(words)
})

it('the least of a whole number and of a time is taken, and what is less is told with it', () => {
  expect(parseInteger(' 2 ', '--x', 2)).toBe(2)
  expect(parseInteger('0', '--x')).toBe(0)
  expect(() => parseInteger('1', '--x', 2)).toThrow('--x is "1": give a whole number of 2 or more.')
  expect(parseDuration('1s', '--x', 1_000)).toBe(1_000)
  expect(() => parseDuration('0.999s', '--x', 1_000)).toThrow(/: give a time of at least 1 s with its unit, /)
  expect(parseDuration('0s', '--x', 0)).toBe(0)
  expect(parseDuration('1000000d', '--x')).toBe(86_400_000 * 1_000_000)
})

it('a number may have decimals, and nothing else', () => {
  expect(['240', '59.94', ' 30 '].map((text) => parseDecimal(text, '--x'))).toEqual([240, 59.94, 30])
  for (const text of ['', '.5', '1e3', '-1', '1/2']) expect(() => parseDecimal(text, '--x')).toThrow(/^--x is /)
})

it('an id of the service is taken as issued, and is in no message, since it may be a secret', () => {
  expect(parseId('a-1', 'the id', 'list prints')).toBe('a-1')
  expect(() => parseId('a\nhush', 'the id', 'list prints')).toThrow(
    /^the id is no id of the service: give it as issued, such as list prints\.$/,
  )
})

it('words of the library about its own option are those of the command, and all others stay', () => {
  const said = (message: string) => () => asOption('--x', 'The size', () => invalid(message))

  expect(said('The size is wrong.')).toThrow('--x is wrong.')
  expect(said('Another thing is wrong.')).toThrow('Another thing is wrong.')
  expect(said('The size is wrong.')).toThrow(UploadError)
  expect(() => asOption('--x', 'The size', () => Buffer.alloc(-1))).toThrow(RangeError)
  expect(asOption('--x', 'The size', () => 7)).toBe(7)
})
