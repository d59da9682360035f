// Every word that the element shows or says, in one table that a host can replace in whole or in part. Functions receive
// amounts, each a number and its written form, so that any language can choose its plural.

import type { Outage } from '../flows/upload.ts'
import type { RefusalReason } from './acceptance.ts'
import type { Amount } from './formats.ts'
import type { Problem } from './problems.ts'

export interface UploaderTexts {
  /** Names the whole element to screen readers. */
  readonly label: string
  readonly dropHere: string
  /** Shown instead of `dropHere` where there is no mouse to drop with. */
  readonly addHere: string
  /** Shown instead of `dropHere` once the list has files. */
  readonly addMore: string
  /** Shown and said while it takes time to find out which files were dropped or chosen. */
  readonly reading: string
  readonly chooseFiles: string
  readonly chooseFolder: string
  /** Says which files are accepted. `kinds` is a list in words, such as “MP4 or MOV”. */
  readonly accepts: (kinds: string) => string
  /** Names the list of files to screen readers. */
  readonly files: string

  readonly start: (files: Amount) => string
  readonly pause: string
  readonly resume: string
  readonly retry: (files: Amount) => string
  readonly cancel: string
  readonly clear: string
  readonly remove: string
  readonly chooseAgain: string
  /** Names a row's button to screen readers, because its visible text is the same in every row. A file's `name` is its path here. */
  readonly actionOn: (action: string, name: string) => string

  readonly ready: string
  readonly waiting: string
  readonly confirming: string
  readonly confirmed: string
  readonly failed: string
  readonly cancelled: string
  readonly paused: string
  readonly remaining: (duration: string) => string
  readonly retries: (times: Amount) => string

  /** The first of the headings above the list. What is going on decides which of them is shown. */
  readonly chosen: (files: Amount) => string
  readonly progress: (done: Amount, all: Amount) => string
  readonly pausedAt: (done: Amount, all: Amount) => string
  readonly noNetwork: string
  /** `who` does not answer, or answers that it is unavailable. `time` is when the next try begins; undefined during a try. */
  readonly noAnswer: (who: Outage['who'], time: string | undefined) => string
  /** Nothing is sent any more, but the service is still to be told, and it may be out of reach. */
  readonly cancelling: string
  readonly allDone: (files: Amount) => string
  /** Parts of these files may be stored already. */
  readonly notDone: (files: Amount) => string
  readonly wasCancelled: string
  /** Shown beside the amount that was sent, if the upload stopped in the middle of a part. */
  readonly sentAgain: string
  /** Shown beside the amount that was sent, if another try can continue an upload that did not finish. */
  readonly goesOn: string
  readonly amountOf: (some: string, all: string) => string
  readonly totalProgress: string

  /** Shown if what was dropped or added holds no readable file, such as an empty folder. */
  readonly nothingFound: string
  readonly refusedTitle: (files: Amount) => string
  readonly refusals: Readonly<Record<RefusalReason, string>>
  readonly andMore: (files: Amount) => string
  readonly dismiss: string

  readonly offerTitle: string
  readonly offerBody: (done: Amount, all: Amount, began: string) => string
  readonly offerPick: (missing: Amount) => string
  readonly offerAllow: string
  readonly offerPickAction: string
  readonly offerAllowAction: string
  readonly offerDiscard: string

  readonly questionTitle: string
  /** Shown if parts of a file are uploaded but no file is confirmed. Otherwise `progress` is shown there. */
  readonly questionPart: string
  /** The first of three answers: to go on, to keep what is confirmed, or to give everything up. */
  readonly questionKeep: string
  readonly questionDiscard: (done: Amount) => string
  readonly questionCancel: string

  readonly notSetUp: string
  readonly problems: Readonly<Record<Problem, string>>
  /** Shows the error's message: to those who run the page or the service, or why an upload cannot go on here. */
  readonly details: (message: string) => string

  /** The first of the texts that only screen readers say, at milestones. */
  readonly saidAdded: (files: Amount) => string
  readonly saidRemoved: (name: string) => string
  readonly saidStarted: (files: Amount) => string
  readonly saidPercent: (percent: string) => string
  readonly saidFileFailed: (name: string, problem: string) => string
}

/** The texts that a host brings: any of them, and any of the `refusals` and `problems`. */
export type OwnTexts = Partial<Omit<UploaderTexts, 'refusals' | 'problems'>> & {
  readonly [Name in 'refusals' | 'problems']?: Partial<UploaderTexts[Name]>
}

const files = ({ value, text }: Amount): string => (value === 1 ? '1 file' : `${text} files`)

/** The texts in English, which are the default. */
export const englishTexts: UploaderTexts = {
  label: 'Upload files',
  dropHere: 'Drop your files here',
  addHere: 'Add your files',
  addMore: 'Add more files',
  reading: 'Reading your files…',
  chooseFiles: 'Choose files',
  chooseFolder: 'Choose a folder',
  accepts: (kinds) => `${kinds} files`,
  files: 'Files',

  start: (amount) => `Upload ${files(amount)}`,
  pause: 'Pause',
  resume: 'Resume',
  retry: (amount) => (amount.value === 1 ? 'Try again' : `Try ${files(amount)} again`),
  cancel: 'Cancel',
  clear: 'Clear the list',
  remove: 'Remove',
  chooseAgain: 'Choose again',
  actionOn: (action, name) => `${action}: ${name}`,

  ready: 'Ready',
  waiting: 'Waiting',
  confirming: 'Being confirmed',
  confirmed: 'Confirmed',
  failed: 'Not finished',
  cancelled: 'Cancelled',
  paused: 'Paused',
  remaining: (duration) => `${duration} left`,
  retries: ({ value, text }) => (value === 1 ? '1 retry' : `${text} retries`),

  chosen: (amount) => `${files(amount)} ready to upload`,
  progress: (done, all) => `${done.text} of ${files(all)} confirmed`,
  pausedAt: (done, all) => `Paused. ${done.text} of ${files(all)} confirmed`,
  noNetwork: 'No connection. The upload goes on by itself when it is back.',
  noAnswer: (who, time) => `The upload ${who} is not available. The next try is ${time ? `at ${time}` : 'now'}.`,
  cancelling: 'Cancelling. If the service cannot be reached, this takes a minute or two.',
  allDone: ({ value, text }) =>
    value === 1 ? 'Your file is uploaded and confirmed' : `All ${text} files are uploaded and confirmed`,
  notDone: (amount) => `${files(amount)} not finished`,
  wasCancelled: 'The upload was cancelled',
  sentAgain: 'what was on its way is sent again',
  goesOn: 'another try goes on from there',
  amountOf: (some, all) => `${some} of ${all}`,
  totalProgress: 'All files together',

  nothingFound: 'No files found',
  refusedTitle: ({ value, text }) => `${text} ${value === 1 ? 'item was' : 'items were'} not added`,
  refusals: {
    kind: 'not a kind of file that is taken here',
    mixed: 'upload videos and tracking files separately',
    character: 'its name has / or \\; rename it',
    empty: 'the file is empty',
    unreadable: 'it cannot be read; see that you can open it, then add it again',
    system: 'hidden, in the trash, unfinished or made by the system',
    twice: 'it was added already',
    elsewhere: 'it is being uploaded already',
    name: 'another file has the same name; rename one of them',
  },
  andMore: ({ text }) => `and ${text} more`,
  dismiss: 'Dismiss',

  offerTitle: 'An earlier upload is not finished',
  offerBody: (done, all, began) => `${done.text} of ${files(all)} confirmed, begun ${began}.`,
  offerPick: ({ value, text }) =>
    `Choose the ${value === 1 ? 'missing file' : `${text} missing files`} again to finish.`,
  offerAllow: 'One click and it goes on.',
  offerPickAction: 'Choose files',
  offerAllowAction: 'Continue',
  offerDiscard: 'Discard',

  questionTitle: 'Give this upload up?',
  questionPart: 'Part of it is uploaded already. That is given up too.',
  questionKeep: 'Go back',
  questionDiscard: (done) => `Keep ${files(done)}, give up the rest`,
  questionCancel: 'Give everything up',

  notSetUp: 'This page is not set up for uploads. Tell the people who run this page.',
  problems: {
    network: 'The connection broke. Check your network, then try again.',
    again: 'It did not work. Try again in a few minutes.',
    choose: 'The file has changed or cannot be read. Choose it again.',
    signIn: 'You are not signed in, or may not upload here. Sign in, then try again.',
    elsewhere: 'This upload cannot go on here.',
    setup: 'Your files are fine. Tell the people who run this page, then try again.',
  },
  details: (message) => `Details: ${message}`,

  saidAdded: (amount) => `${files(amount)} added.`,
  saidRemoved: (name) => `${name} removed.`,
  saidStarted: (amount) => `Uploading ${files(amount)}.`,
  saidPercent: (percent) => `${percent} stored.`,
  saidFileFailed: (name, problem) => `${name}: ${problem}`,
}
