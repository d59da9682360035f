// The engine for hosts that need no small page: it finds its number of parts, keeps a rate and yields to others.

import { adaptiveTuning } from './adaptive-tuning.ts'
import { createTunedEngine, type Engine, type EngineOptions } from './engine.ts'

/** Makes an engine. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid option. */
export function createEngine(options: EngineOptions): Engine {
  return createTunedEngine(options, adaptiveTuning)
}
