// The entry point of everything that learns how to use the line, for pages that set `concurrency: 'auto'`, `limitRate` or
// `isBackground`. The portable entry point and Node's have it wired in.

export { createEngine } from './core/adaptive-engine.ts'
export { adaptiveTuning } from './core/adaptive-tuning.ts'
export type { Tuning, TuningMaker, TuningOptions } from './core/tuning.ts'
