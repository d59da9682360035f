// The entry point of everything that learns how to use the line, for pages that set `concurrency: 'auto'`, `limitRate` or
// `isBackground`. The portable entry point and Node's have it wired in. Two ports that only Node's fills are made here as well.

export { createEngine } from './core/adaptive-engine.ts'
export { adaptiveTuning } from './core/adaptive-tuning.ts'
export { wholeBodies, type WholeBodies } from './core/attempt/whole-body.ts'
export { lineHearing, type Hearing } from './core/line/hearing.ts'
export type { Tuning, TuningMaker, TuningOptions } from './core/tuning.ts'
