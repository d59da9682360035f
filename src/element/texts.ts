// Every word that the element shows or says, in one table that a host can replace in whole or in part. Functions get
// amounts, a number and how it is written, so that any language can choose its plural.

import type { Outage } from '../flows/upload.ts'
import type { RefusalReason } from './acceptance.ts'
import type { Amount } from './formats.ts'
import type { Problem } from './problems.ts'

export interface UploaderTexts {
  /** Names the whole element to screen readers. */
  readonly label: string
  readonly dropHere: string
  /** The same where there is no mouse to drop with. */
  readonly addHere: string
  /** While there is a list already. */
  readonly addMore: string
  readonly chooseFiles: string
  readonly chooseFolder: string
  /** Which files are taken; `kinds` is written out, such as “MP4 or MOV”. */
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
  /** Names a row's button to screen readers, whose visible text alone would be the same in every row. */
  readonly actionOn: (action: string, name: string) => string

  readonly ready: string
  readonly waiting: string
  readonly uploading: string
  readonly confirming: string
  readonly confirmed: string
  readonly failed: string
  readonly cancelled: string
  readonly paused: string
  readonly remaining: (duration: string) => string
  readonly retries: (times: Amount) => string

  /** The heading above the list, by what is going on. */
  readonly chosen: (files: Amount) => string
  readonly progress: (done: Amount, all: Amount) => string
  readonly pausedAt: (done: Amount, all: Amount) => string
  readonly noNetwork: string
  /** `who` gives no answer, or says that it cannot; `time` is when it is tried next, undefined while it is. */
  readonly noAnswer: (who: Outage['who'], time: string | undefined) => string
  readonly cancelling: string
  readonly allDone: (files: Amount) => string
  /** Parts of these files may be stored. */
  readonly notDone: (files: Amount) => string
  readonly wasCancelled: string
  /** Beside what is kept, when it stopped in the middle of a part. */
  readonly sentAgain: string
  /** Beside how much of what was not finished is stored. */
  readonly goesOn: string
  readonly amountOf: (some: string, all: string) => string
  readonly totalProgress: string

  /** Where something was dropped or added that has no file in it that can be read, such as an empty folder. */
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
  /** Where parts of a file are uploaded, and no file is confirmed; else `progress` stands there. */
  readonly questionPart: string
  /** The three answers: to go on, to keep what is confirmed, to give all of it up. */
  readonly questionKeep: string
  readonly questionDiscard: (done: Amount) => string
  readonly questionCancel: string

  readonly notSetUp: string
  readonly problems: Readonly<Record<Problem, string>>
  /** The message for those who run the page or the service. */
  readonly details: (message: string) => string

  /** Said by screen readers only, at milestones. */
  readonly saidAdded: (files: Amount) => string
  readonly saidRemoved: (name: string) => string
  readonly saidStarted: (files: Amount) => string
  readonly saidPercent: (percent: string) => string
  readonly saidFileFailed: (name: string, problem: string) => string
}

/** The words that a host brings: any of them, and any of the reasons and problems. */
export type OwnTexts = Partial<Omit<UploaderTexts, 'refusals' | 'problems'>> & {
  readonly [Name in 'refusals' | 'problems']?: Partial<UploaderTexts[Name]>
}

const files = ({ value, text }: Amount): string => (value === 1 ? '1 file' : `${text} files`)

/** The element's English. */
export const englishTexts: UploaderTexts = {
  label: 'Upload files',
  dropHere: 'Drop your files here',
  addHere: 'Add your files',
  addMore: 'Add more files',
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
  uploading: 'Uploading',
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
  cancelling: 'Cancelling',
  allDone: ({ value, text }) =>
    value === 1 ? 'Your file is uploaded and confirmed' : `All ${text} files are uploaded and confirmed`,
  notDone: (amount) => `${files(amount)} not finished`,
  wasCancelled: 'The upload was cancelled',
  sentAgain: 'what was on its way is sent again',
  goesOn: 'another try goes on from there',
  amountOf: (some, all) => `${some} of ${all}`,
  totalProgress: 'All files together',

  nothingFound: 'No files were found',
  refusedTitle: (amount) => `${files(amount)} ${amount.value === 1 ? 'was' : 'were'} not added`,
  refusals: {
    kind: 'not a kind of file that is taken here',
    mixed: 'upload videos and tracking files separately',
    empty: 'the file is empty',
    system: 'hidden or made by the system',
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
    elsewhere: 'This upload cannot go on here. It may be open in another tab.',
    setup: 'Your files are fine. Tell the people who run this page, then try again.',
  },
  details: (message) => `Details: ${message}`,

  saidAdded: (amount) => `${files(amount)} added.`,
  saidRemoved: (name) => `${name} removed.`,
  saidStarted: (amount) => `Uploading ${files(amount)}.`,
  saidPercent: (percent) => `${percent} confirmed.`,
  saidFileFailed: (name, problem) => `${name}: ${problem}`,
}
