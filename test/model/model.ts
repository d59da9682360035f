// What the test expects of an upload: which parts are confirmed, whether it is paused, whether it is done. No more than
// that: a model as clever as the program would share its mistakes.

export interface Model {
  /** The number of parts of each added file. */
  readonly fileParts: number[]
  isStarted: boolean
  isPaused: boolean
  isDone: boolean
  /** As `file/part`. Emptied when a new session takes over the files. */
  confirmed: ReadonlySet<string>
}

export function newModel(): Model {
  return { fileParts: [], isStarted: false, isPaused: false, isDone: false, confirmed: new Set() }
}

export function isUnderWay({ isStarted, isDone }: Readonly<Model>): boolean {
  return isStarted && !isDone
}
