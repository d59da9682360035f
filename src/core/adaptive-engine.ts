// The engine as a host that needs no small page takes it: it finds its number of parts, keeps a rate and yields to others.

import { adaptiveTuning } from './adaptive-tuning.ts'
import { createTunedEngine, type Engine, type EngineOptions } from './engine.ts'

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for an option that cannot be. */
export function createEngine(options: EngineOptions): Engine {
  return createTunedEngine(options, adaptiveTuning)
}
