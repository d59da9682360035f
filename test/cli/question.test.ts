// What counts as a yes, and as nobody to ask.

import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'

import { askPerson, hasPerson } from '../../src/cli/question.ts'
import { textSoFar } from '../helpers/text-so-far.ts'

const terminal = () => ({ input: new PassThrough(), output: new PassThrough() })
const { signal } = new AbortController()

describe('a question', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    [' yes \r\n', true],
    ['\n', false],
    ['n\n', false],
    ['yesterday\n', false],
    ['n\ny\n', false],
  ])('takes %j for %j', async (typed, answer) => {
    const { input, output } = terminal()
    const asked = askPerson('Give it up?', signal, { input, output })
    input.write(typed)

    expect(await asked).toBe(answer)
    expect(textSoFar(output)).toBe('Give it up? [y/N] ')
  })

  it('takes the end of the input for a no', async () => {
    const { input, output } = terminal()
    const asked = askPerson('Give it up?', signal, { input, output })
    input.end()

    expect(await asked).toBe(false)
    expect(textSoFar(output)).toBe('Give it up? [y/N] \n')
  })

  it('ends with its signal, and leaves nobody reading', async () => {
    const { input, output } = terminal()
    const stop = new AbortController()
    const asked = askPerson('Give it up?', stop.signal, { input, output })
    stop.abort(new Error('stopped'))

    await expect(asked).rejects.toThrow('stopped')
    expect(input.isPaused()).toBe(true)
    expect(textSoFar(output)).toBe('Give it up? [y/N] \n')
  })

  it('is for a person only who sees it and can answer', () => {
    const [piped, seen] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })]

    expect(hasPerson({ input: seen, output: seen })).toBe(true)
    expect(hasPerson({ input: piped, output: seen })).toBe(false)
    expect(hasPerson({ input: seen, output: piped })).toBe(false)
  })
})
