// Five bad nights to rehearse by name. Each is plain data in the grammar of faults.

/** Use one with `serve --faults night:NAME` or `startService({ faults: 'night:NAME' })`. */
export const NIGHTS = {
  /** A crowded uplink: slow stretches, short stops, connections that break halfway, replies that get lost. */
  'flaky-line': {
    seed: 1,
    rules: [
      { operation: 'put', probability: 0.15, fault: { reset: { at: 'body', afterBytes: 200_000 } } },
      { operation: 'put', probability: 0.05, fault: { stall: { at: 'body', afterBytes: 100_000, forMs: 2_000 } } },
      { operation: 'put', probability: 0.1, fault: { loseReply: 'reset' } },
      { operation: 'put', probability: 0.2, fault: { slowLine: 4_000_000 } },
      { operation: 'create', nth: 1, fault: { reset: { at: 'start' } } },
      { operation: 'register', nth: 1, fault: { loseReply: 'close' } },
      { operation: 'confirm', probability: 0.2, fault: { loseReply: 'reset' } },
    ],
  },
  /** Addresses that live two minutes and are sometimes refused earlier, in the words of three stores. */
  'expiring-addresses': {
    seed: 2,
    rules: [
      { operation: 'create', fault: { shortLifeMs: 120_000 } },
      { operation: 'register', fault: { shortLifeMs: 120_000 } },
      { operation: 'put', probability: 0.15, fault: { expire: 's3' } },
      { operation: 'put', probability: 0.1, fault: { expire: 'gcs' } },
      { operation: 'put', probability: 0.1, fault: { expire: 'azure' } },
    ],
  },
  /** A storage and a service that ask for patience: throttling with and without Retry-After, errors, early closes. */
  'overloaded-storage': {
    seed: 3,
    rules: [
      { operation: 'put', probability: 0.2, fault: { body: 's3-slowdown', headers: { 'retry-after': '1' } } },
      { operation: 'put', probability: 0.1, fault: { earlyAnswer: { body: 's3-slowdown', then: 'close' } } },
      { operation: 'put', probability: 0.05, fault: { body: 's3-internal' } },
      { operation: 'put', probability: 0.05, fault: { earlyAnswer: { body: 's3-timeout', then: 'drain' } } },
      { operation: 'put', probability: 0.2, fault: { delayMs: { after: 200 } } },
      { operation: 'create', nth: 1, fault: { status: 429, headers: { 'retry-after': '1' } } },
      { operation: 'register', nth: 1, fault: { body: 'html', status: 503 } },
      { operation: 'confirm', probability: 0.2, fault: { status: 500 } },
    ],
  },
  /** A storage that cannot be trusted: flipped bits; wrong, missing, weak or opaque ETags; parts that arrive late. */
  'lying-storage': {
    seed: 4,
    rules: [
      { operation: 'put', probability: 0.15, fault: { corrupt: true } },
      { operation: 'put', probability: 0.1, fault: { etag: 'wrong' } },
      { operation: 'put', probability: 0.1, fault: { etag: 'missing' } },
      { operation: 'put', probability: 0.1, fault: { etag: 'weak' } },
      { operation: 'put', probability: 0.1, fault: { etag: 'opaque' } },
      { operation: 'put', probability: 0.1, fault: { lateDeliveryMs: 300 } },
      { operation: 'confirm', nth: [1, 3], fault: { loseReply: 'reset' } },
    ],
  },
  /**
   * Every 90 s the storage is unreachable for 15 s and the service asks to come back later. Near the end of each cycle a gateway
   * answers everything with its own page for 2 s.
   */
  'short-outages': {
    seed: 5,
    rules: [
      { operation: 'put', from: 30, to: 45, repeatEvery: 90, fault: { reset: { at: 'start' } } },
      {
        operation: '*',
        from: 30,
        to: 45,
        repeatEvery: 90,
        fault: { body: 'html', status: 503, headers: { 'retry-after': '5' } },
      },
      { operation: '*', from: 80, to: 82, repeatEvery: 90, fault: { body: 'html' } },
    ],
  },
} as const
