// What the test believes of an upload: which parts are confirmed, whether it is paused, whether it is done. No more: a
// model as clever as the program would share its mistakes.

export interface Model {
  /** Parts of each file that was added. */
  readonly fileParts: number[]
  isStarted: boolean
  isPaused: boolean
  isDone: boolean
  /** `file/part`; emptied when a new session took the files. */
  confirmed: ReadonlySet<string>
}

export function newModel(): Model {
  return { fileParts: [], isStarted: false, isPaused: false, isDone: false, confirmed: new Set() }
}

export function isUnderWay({ isStarted, isDone }: Readonly<Model>): boolean {
  return isStarted && !isDone
}
