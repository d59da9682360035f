// What a person sees, without a process: widths, the lines of the live view, the meaning of option texts.

import { Command } from 'commander'
import { describe, expect, it } from 'vitest'

import { parseDuration, parseInteger, parseSize, readJsonOption } from '../../src/cli/options/option-values.ts'
import { markRequired } from '../../src/cli/views/help-texts.ts'
import { onOneLine } from '../../src/core/redact.ts'
import { progressLines } from '../../src/cli/views/progress-lines.ts'
import type { ProgressPicture } from '../../src/cli/views/progress-lines.ts'
import { eraseText } from '../../src/cli/views/redraw.ts'
import { sessionLines } from '../../src/cli/views/sessions-view.ts'
import { columnsOf, fitColumns, shortenMiddle, wrapped } from '../../src/cli/views/text-width.ts'
import { formatTime, percentOf } from '../../src/cli/views/wording.ts'
import type { SessionSummary } from '../../src/flows/sessions.ts'
import type { UploadFileStatus } from '../../src/flows/upload.ts'

const MIB = 1024 * 1024

function inFlight(name: string, sentBytes: number): UploadFileStatus {
  return { fileIndex: 0, name, bytes: 10 * MIB, sentBytes, confirmedBytes: 0, parts: 2, state: 'uploading' }
}

function picture(change: Partial<ProgressPicture> = {}): ProgressPicture {
  return {
    state: 'uploading',
    progress: {
      ...{ sentBytes: 12 * MIB, confirmedBytes: 9 * MIB, totalBytes: 30 * MIB, bytesPerSecond: 2 * MIB },
      ...{ remainingMs: 62_000, filesConfirmed: 1, filesFailed: 0, filesTotal: 3 },
    },
    files: [inFlight('swing-01.mp4', 5 * MIB), { ...inFlight('swing-02.mp4', 0), state: 'pending' }],
    ...{ columns: 80, rows: 24 },
    ...change,
  }
}

describe('the live view', () => {
  it('has a line per file in flight and one for the whole', () => {
    expect(progressLines(picture())).toEqual([
      '  swing-01.mp4 ██████████░░░░░░░░░░  50 % of 10 MiB',
      '30 % stored · 1:02 left · 2.0 MiB/s · 1 of 3 files · 12.0 of 30 MiB sent',
    ])
  })

  it('has each bar beside the name of its file on a wide terminal, where it stays as other files come and go', () => {
    const long = { ...inFlight('投球フォーム-catcher.mp4', 0), state: 'pending' } as const
    const both = [inFlight('swing-01.mp4', 5 * MIB), long]
    const barAt = (files: readonly UploadFileStatus[], line = 0) =>
      columnsOf(progressLines(picture({ files, columns: 200 }))[line]!.split(/[█░]/)[0]!)

    const at = barAt(both)
    expect(at).toBeLessThan(2 * columnsOf(long.name))
    expect(at).toBeGreaterThan(columnsOf(long.name))
    expect(barAt([both[0]!, { ...long, state: 'uploading' }], 1)).toBe(at)
  })

  it('shows at its end the same things from one drawing to the next, whatever digits the amounts have', () => {
    const endsAt = (sentBytes: number, bytesPerSecond: number) => {
      const progress = { ...picture().progress, sentBytes, bytesPerSecond, totalBytes: 67.2 * MIB, filesTotal: 20 }
      return progressLines(picture({ progress }))[1]!.length
    }
    const bytes = [39, 39.1, 40, 40.9].map((each) => each * MIB)

    expect(new Set(bytes.flatMap((sent) => [3.9, 4, 4.1].map((rate) => endsAt(sent, rate * MIB)))).size).toBe(1)
  })

  it('says no time left while only answers are awaited', () => {
    const progress = { ...picture().progress, sentBytes: 30 * MIB, remainingMs: 0 }
    expect(progressLines(picture({ progress })).at(-1)).toBe(
      '30 % stored · 2.0 MiB/s · 1 of 3 files · 30.0 of 30 MiB sent',
    )
  })

  it('does not call confirmed what only the storage has, in a window that is too narrow for the count of files', () => {
    const progress = {
      ...picture().progress,
      sentBytes: 30 * MIB,
      confirmedBytes: 30 * MIB,
      remainingMs: 0,
      filesConfirmed: 0,
    }
    const files = [{ ...inFlight('swing-01.mp4', 10 * MIB), state: 'confirming' } as const]

    expect(progressLines(picture({ progress, files, columns: 40 })).at(-1)).toBe(
      '100 % stored · 2.0 MiB/s · 0 of 3 files',
    )
  })

  it('leaves out what does not fit a narrow terminal', () => {
    expect(progressLines(picture({ columns: 40, rows: 20 }))).toEqual([
      '  swing-01.mp4  50 %',
      '30 % stored · 1:02 left · 2.0 MiB/s',
    ])
  })

  it('says in a narrow window how long a whole night still takes, rather than the rate', () => {
    const progress = { ...picture().progress, bytesPerSecond: 800 * 1024, remainingMs: 37_323_000 }

    expect(progressLines(picture({ files: [], progress, columns: 40 }))).toEqual(['30 % stored · 10:22:03 left'])
  })

  it('is never wider or higher than the terminal, whatever the names are', () => {
    const names = [
      '投球フォーム-2026-11-20-カメラ1.mp4',
      'e\u0301te\u0301-'.repeat(20),
      '👩‍👩‍👧-family.mov',
      'x'.repeat(300),
    ]
    const files = Array.from({ length: 40 }, (_, index) => inFlight(names[index % 4]!, index * 1000))

    for (let columns = 12; columns <= 140; columns += 1) {
      const lines = progressLines(picture({ files, columns, rows: 10 }))

      expect(lines.length).toBeLessThanOrEqual(8)
      for (const line of lines) expect(columnsOf(line)).toBeLessThan(columns)
    }
    expect(progressLines(picture({ files, rows: 10 })).at(-2)).toBe('  and 34 more files in flight')
  })

  it('says that it waits, and what failed', () => {
    const { progress } = picture()
    const lines = progressLines(picture({ state: 'waiting', files: [], progress: { ...progress, filesFailed: 2 } }))

    expect(lines).toEqual(['waiting · 30 % stored · 2 failed · 1 of 3 files · 12.0 of 30 MiB sent'])
  })

  it('says how long there has been no connection, when it is tried again, and how often parts were repeated', () => {
    const outage = { host: 'store.example:443', forMs: 74_000, nextTryInMs: 12_000 }
    const now = { ...outage, nextTryInMs: -1 }
    const waiting = { state: 'waiting', files: [] } as const

    expect(progressLines(picture({ ...waiting, outage, retries: 1, columns: 160 }))).toEqual([
      'waiting 1:14, next try in 0:12 · 30 % stored · 1 of 3 files · store.example:443: no connection · 1 retry · 12.0 of 30 MiB sent',
    ])
    expect(progressLines(picture({ ...waiting, outage: now, columns: 120 }))[0]).toMatch(
      /^waiting 1:14, trying now · 30 % .* · store\.example:443: no connection/,
    )
    const busy = picture({ ...waiting, outage: { ...now, reason: 'it answers 503' }, columns: 120 })
    expect(progressLines(busy)[0]).toMatch(/ · store\.example:443: it answers 503/)
    expect(progressLines(picture({ outage, files: [] }))[0]).toMatch(/^30 % stored · 1:02 left · 2\.0 MiB\/s/)
  })

  it('says in a narrow window of an outage when the next try is, and in one of 80 columns how much is stored', () => {
    const host = 'team-uploads.s3.dualstack.us-east-1.amazonaws.com:443'
    const outage = { host, forMs: 3_723_000, nextTryInMs: 60_000 }
    const lineIn = (columns: number) => progressLines(picture({ state: 'waiting', files: [], outage, columns }))

    expect(lineIn(40)).toEqual(['waiting 1:02:03, next try in 1:00'])
    expect(lineIn(80)).toEqual(['waiting 1:02:03, next try in 1:00 · 30 % stored · 1 of 3 files'])
  })

  it('goes back over the rows that its lines take after a resize', () => {
    expect(eraseText(['x'.repeat(79), 'y'], 80)).toBe('\r\x1b[2A\x1b[K\x1b[B\x1b[J\x1b[A')
    expect(eraseText(['x'.repeat(79), 'y'], 40)).toBe('\r\x1b[3A\x1b[K\x1b[B\x1b[J\x1b[A')
    expect(eraseText([], 40)).toBe('')
  })
})

describe('the list of sessions', () => {
  const session: SessionSummary = {
    ...{
      key: 'capture-mwrg877p-x357uvli4i',
      flow: 'capture',
      status: 'open',
      sessionId: 7,
      sessionIds: [],
      leftSessionIds: [],
    },
    ...{ filesConfirmed: 8, filesFailed: 0, filesTotal: 40, bytes: 300 * MIB, confirmedBytes: 20 * MIB },
    beganAtMs: 0,
    firstFile: '/recordings/game-0119/pitch-001.c3d',
  }

  it('says with which file each began, and leaves out the flow, the bytes and the file where the terminal is too narrow', () => {
    expect(sessionLines([session], 3_723_000)).toEqual([
      'KEY                          FLOW     STATUS  FILES    BYTES              AGE      FIRST FILE',
      'capture-mwrg877p-x357uvli4i  capture  open    8 of 40  20 MiB of 300 MiB  1:02:03  game-0119/pitch-001.c3d',
    ])
    expect(sessionLines([session], 3_723_000, 98)).toEqual([
      'KEY                          STATUS  FILES    BYTES              AGE      FIRST FILE',
      'capture-mwrg877p-x357uvli4i  open    8 of 40  20 MiB of 300 MiB  1:02:03  game-0119/pitch-001.c3d',
    ])
    expect(sessionLines([session], 3_723_000, 80)).toEqual([
      'KEY                          STATUS  FILES    AGE      FIRST FILE',
      'capture-mwrg877p-x357uvli4i  open    8 of 40  1:02:03  game-0119/pitch-001.c3d',
    ])
    expect(sessionLines([session], 3_723_000, 76)).toEqual([
      'KEY                          STATUS  FILES    AGE      FIRST FILE',
      'capture-mwrg877p-x357uvli4i  open    8 of 40  1:02:03  game-0119/…ch-001.c3d',
    ])
    const narrow = [
      'KEY                          STATUS  FILES    AGE',
      'capture-mwrg877p-x357uvli4i  open    8 of 40  1:02:03',
    ]
    expect(sessionLines([session], 3_723_000, 60)).toEqual(narrow)
    expect(sessionLines([session], 3_723_000, 20)).toEqual(narrow)
  })

  it('names a file that was chosen in no folder, and says where the journal names none', () => {
    const listed = [undefined, 'swing.mp4'].map((firstFile) => ({ ...session, firstFile }))
    expect(sessionLines(listed, 3_723_000).map((line) => line.slice(-10))).toEqual([
      'FIRST FILE',
      '1:02:03  ?',
      ' swing.mp4',
    ])
  })
})

describe('a paragraph of the help', () => {
  it('is broken between words, and never a word that is longer than the terminal', () => {
    expect(wrapped('one two three\nfour https://a.example/very/long', 9)).toBe(
      'one two\nthree\nfour\nhttps://a.example/very/long',
    )
  })

  it('keeps its blanks: what is set in columns stays so, and a new line begins with a word', () => {
    expect(wrapped('          5 MiB in 3 s', 80)).toBe('          5 MiB in 3 s')
    expect(wrapped('  a1  orga   name here', 14)).toBe('  a1  orga\nname here')
    expect(wrapped('', 80)).toBe('')
  })

  it.each([
    [60, 60],
    [40, 40],
    [25, 25],
    [0, 80],
  ])('fits a window that says %d columns, beside the name of its option or below it', (said, columns) => {
    const program = markRequired(new Command('x')).configureOutput({ getOutHelpWidth: () => said })
    program.option('--forget <keys...>', 'remove these, cancelled or unreadable, whatever the service knows of them')
    const help = program.helpInformation()

    const widest = Math.max(...help.split('\n').map((line) => line.length))
    expect(widest).toBeLessThanOrEqual(columns)
    expect(widest).toBeGreaterThan(columns / 2)
    expect(help.replace(/\s+/g, ' ')).toContain(
      '--forget <keys...> remove these, cancelled or unreadable, whatever the',
    )
  })

  it('is measured by what a person sees', () => {
    expect(wrapped('投球 投球 x', 9)).toBe('投球 投球\nx')
    expect(wrapped('投球 投球 x', 8)).toBe('投球\n投球 x')
  })
})

describe('text on a terminal', () => {
  it.each([
    ['swing.mp4', 9],
    ['投球', 4],
    ['ｱｲｳ', 3],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['❤️', 2],
    ['한국', 4],
    ['バッター', 8],
    ['ハ\u3099ッター', 8],
    ['ﾊﾞｯﾀｰ', 5],
    ['㈱㍿ㄅ', 6],
    ['น้ำ', 2],
    ['हिंदी', 4],
  ])('%s takes %i columns', (text, columns) => {
    expect(columnsOf(text)).toBe(columns)
  })

  it('keeps both ends of a long name, and never cuts a character', () => {
    expect(shortenMiddle('swing-of-the-night.mp4', 11)).toBe('swing…t.mp4')
    expect(shortenMiddle('投球フォーム.mp4', 9)).toBe('投球….mp4')
    expect(fitColumns('投球', 6)).toBe('投球  ')
  })

  it('cannot be moved by a file name', () => {
    expect(onOneLine('a\x1b[2Jb\nc\u202Egpj.exe')).toBe('a�[2Jb�c�gpj.exe')
  })
})

describe('numbers in words', () => {
  it.each([
    [0, '0:00'],
    [62_000, '1:02'],
    [3_723_000, '1:02:03'],
    [93_784_000, '1 d 02:03:04'],
  ])('%i ms is %s', (ms, text) => {
    expect(formatTime(ms)).toBe(text)
  })

  it('says 100 percent only when all is there', () => {
    expect([percentOf(999, 1000), percentOf(1000, 1000), percentOf(0, 0)]).toEqual([99, 100, 100])
  })
})

describe('the text of an option', () => {
  it('is a time with its unit', () => {
    expect(['90s', '30m', '12h', '2d', '0.5h'].map((text) => parseDuration(text, '--x'))).toEqual([
      ...[90_000, 1_800_000, 43_200_000, 172_800_000, 1_800_000],
    ])
    for (const text of ['', '12', '0s', '-1h', '1w', '1h30m']) {
      expect(() => parseDuration(text, '--x')).toThrow(/^--x is/)
    }
  })

  it('is a whole number, or a size', () => {
    expect([parseInteger('42', '--x'), parseSize('16MiB', '--x'), parseSize('2MB', '--x')]).toEqual([
      ...[42, 16_777_216, 2_000_000],
    ])
    for (const text of ['', '1.5', '-1', '1e3', '0x10', '99999999999999999']) {
      expect(() => parseInteger(text, '--x')).toThrow(/^--x is/)
    }
    expect(() => parseSize('0', '--x')).toThrow('--x must be at least one byte.')
  })

  it('is JSON, whose content is in no message', async () => {
    expect(await readJsonOption('{"a":[1]}', '--x')).toEqual({ a: [1] })
    await expect(readJsonOption('{"token":"hush-hush"', '--x')).rejects.toMatchObject({
      ...{ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: expect.not.stringContaining('hush') as string },
    })
  })

  it('is JSON that can be sent as it is: with no number whose digits would change on the way', async () => {
    expect(await readJsonOption('[9007199254740991, -0.1, "12345678901234567890"]', '--x')).toHaveLength(3)
    for (const number of ['12345678901234567890', '-9007199254740993', '1e400']) {
      await expect(readJsonOption(`{"a":[{"id":${number}}]}`, '--x')).rejects.toMatchObject({
        ...{ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message: expect.stringMatching(/^--x .* as a string\.$/) as string },
      })
    }
  })
})
