// Which files count as added already: those of the list, of what is offered, and of what another tab uploads.

import { expect, it } from 'vitest'
import { judgeFiles, type AcceptanceRules } from '../../src/element/acceptance.ts'
import { chosenFile } from '../../src/element/chosen-files.ts'

const RULES: AcceptanceRules = { accept: '', session: [], isRenaming: true, offered: [], driven: [] }
const present = (path: string, bytes = 3) => ({
  fileName: path.replace(/.*\//, ''),
  location: path,
  bytes,
  modifiedAtMs: 7,
})

function chosen(path: string) {
  const [name, folder] = [path.replace(/.*\//, ''), path.replace(/[^/]*$/, '')]
  return chosenFile(new File(['one'], name, { lastModified: 7 }), folder)
}

it.each([
  ['in the same folder', 'game/cam1/a.action'],
  ['in its folder, dropped by itself', 'cam1/a.action'],
  ['by itself', 'a.action'],
  ['in a folder around it', 'night/game/cam1/a.action'],
])('refuses a file that is added again %s, though names may repeat', (_how, path) => {
  const { accepted, refused } = judgeFiles([chosen(path)], [present('game/cam1/a.action')], RULES)

  expect(refused).toEqual([{ name: 'a.action', location: path, reason: 'twice' }])
  expect(accepted).toEqual([])
})

it.each(['offered', 'present'] as const)(
  'takes one of the same name from another folder than the one that is %s',
  (of) => {
    const other = [present('game/cam2/a.action')]
    const { accepted } =
      of === 'present'
        ? judgeFiles([chosen('game/cam1/a.action')], other, RULES)
        : judgeFiles([chosen('game/cam1/a.action')], [], { ...RULES, offered: other })

    expect(accepted).toHaveLength(1)
  },
)

it('refuses what another tab uploads, and says so', () => {
  const rules = { ...RULES, isRenaming: false, driven: [present('a.action')] }
  const { refused } = judgeFiles([chosen('game/a.action')], [], rules)

  expect(refused).toEqual([{ name: 'a.action', location: 'game/a.action', reason: 'elsewhere' }])
})

it('refuses a copy from another folder where no file is named after its folder', () => {
  const rules = { ...RULES, session: undefined, isRenaming: false }
  const { refused } = judgeFiles([chosen('backup/a.mp4')], [present('card/a.mp4')], rules)

  expect(refused.map(({ reason }) => reason)).toEqual(['twice'])
})

it('takes a file of another size or time, and any time where none is known', () => {
  const rules = { ...RULES, session: undefined }
  expect(judgeFiles([chosen('a.mp4')], [present('a.mp4', 4)], rules).accepted).toHaveLength(1)
  expect(judgeFiles([chosen('a.mp4')], [{ ...present('a.mp4'), modifiedAtMs: 8 }], rules).accepted).toHaveLength(1)
  expect(judgeFiles([chosen('a.mp4')], [{ ...present('a.mp4'), modifiedAtMs: undefined }], rules).refused).toHaveLength(
    1,
  )
})

it.each(['cam\\swing.action', 'a/b.action', ' '])(
  'refuses a name that no upload can carry, and that file alone: %j',
  (name) => {
    const file = chosenFile(new File(['one'], name, { lastModified: 7 }))
    const { accepted, refused } = judgeFiles([file, chosen('a.action')], [], RULES)

    expect(refused).toEqual([{ name, location: name, reason: 'character' }])
    expect(accepted).toHaveLength(1)
  },
)

it.each([
  'card/.Trashes/501/a.mp4',
  'card/$RECYCLE.BIN/S-1-5/$RA1.mp4',
  'game/.git/config',
  'game/.DS_Store',
  '._a.action',
  'game/Thumbs.db',
  'game/Desktop.ini',
  'game/Icon\r',
  'game/~$notes.xlsx',
  'game/take-1.action.tmp',
  'game/take-1.action.part',
  'game/take-1.action.crdownload',
  'card/System Volume Information/IndexerVolumeGuid',
  'card/lost+found/old.action',
  'archive/__MACOSX/take-1.action',
])('refuses what nobody meant when a folder is dropped: %s', (path) => {
  const { accepted, refused } = judgeFiles([chosen(path), chosen('game/a.action')], [], RULES)

  expect(refused.map(({ reason }) => reason)).toEqual(['system'])
  expect(accepted.map(({ fileName }) => fileName)).toEqual(['a.action'])
})

it.each(['take-1.action.part', '~$notes.action', '.takes/a.action', '.takes/day 1/a.action'])(
  'takes what a person chose by its own name, or in a folder chosen by its own: %s',
  (path) => {
    expect(judgeFiles([chosen(path)], [], RULES).refused).toEqual([])
  },
)

it('refuses what was chosen by its own name if it is of another kind', () => {
  const { refused } = judgeFiles([chosen('swing.mp4.part')], [], { ...RULES, accept: '.mp4,.mov' })

  expect(refused.map(({ reason }) => reason)).toEqual(['kind'])
})

it('reads the kinds as an input does, which tells no capital from a small letter', () => {
  const { accepted } = judgeFiles([chosen('a.mp4'), chosen('B.MP4')], [], { ...RULES, accept: '.MP4' })

  expect(accepted).toHaveLength(2)
})

it.each([
  ['video/*', ['a.mp4']],
  ['video/mp4', ['a.mp4']],
  ['video/quicktime', []],
  ['image/*, .csv', ['b.csv']],
  ['.csv, */*', ['a.mp4', 'b.csv']],
])('knows the type of a file that the browser gave it: %s', (accept, expected) => {
  const files = [new File(['one'], 'a.mp4', { type: 'video/mp4' }), new File(['one'], 'b.csv')]
  const { accepted } = judgeFiles(
    files.map((file) => chosenFile(file)),
    [],
    { ...RULES, session: undefined, accept },
  )

  expect(accepted.map(({ fileName }) => fileName)).toEqual(expected)
})

it('refuses another file of one name where a capture session would know it by its name alone, whichever came first', () => {
  const session = [present('cam1/a.action', 4)]
  const { accepted, refused } = judgeFiles(
    [chosen('cam1/b.action'), chosen('cam2/a.action'), { ...chosen('cam2/b.action'), bytes: 4 }],
    session,
    { ...RULES, session, isRenaming: false },
  )

  expect(accepted.map(({ location }) => location)).toEqual(['cam1/b.action'])
  expect(refused.map(({ location, reason }) => [location, reason])).toEqual([
    ['cam2/a.action', 'name'],
    ['cam2/b.action', 'name'],
  ])
})

it.each([
  ['a capture, the first of which says which', true, ['mixed']],
  ['videos, of which each says for itself', false, []],
])('takes files of one kind into %s', (_into, isCapture, expected) => {
  const files = ['a.mp4', 'b.mov', 'c.action'].map(chosen)
  const refusedBeside = (given: readonly ReturnType<typeof chosen>[], before: readonly ReturnType<typeof present>[]) =>
    judgeFiles(given, before, { ...RULES, session: isCapture ? before : undefined }).refused.map(({ reason }) => reason)

  expect(refusedBeside(files, [])).toEqual(expected)
  expect(refusedBeside(files.slice(2), [present('a.mp4')])).toEqual(expected)
})

it('takes a file of any name and kind beside those of another session', () => {
  const others = [present('cam1/a.mp4', 4), present('cam1/b.action')]

  expect(judgeFiles([chosen('cam2/a.mp4')], others, { ...RULES, isRenaming: false }).refused).toEqual([])
})

it.each(['a.hidden.action', 'take~$1.action', '2026.11.20/a.part.action', 'my-desktop.ini.action', 'tmp'])(
  'takes a file whose name only resembles those: %s',
  (path) => {
    expect(judgeFiles([chosen(path)], [], RULES).refused).toEqual([])
  },
)
