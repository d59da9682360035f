// What a page must load, minified and gzipped, with everything it needs. Each entry has the bar it is meant to meet and the
// size it has reached, rounded up to half a kilobyte: a larger build fails, so that the bar only comes nearer. Whoever makes one
// smaller lowers its figure here; docs/performance.md says what the rest is made of. What was paid on purpose, last, half a kilobyte in each: a
// storage that answers 503 for minutes costs no file, a create waits for a service that is away, a host's own protocol that never ends holds
// up neither pause nor cancel, a session that was left ends after its last part, and progress has a last word. After that 0.8 kB:
// a close lets go of whatever runs, and an outage says whose it is. Then 0.4 kB: a storage that refuses is asked as often
// as it takes, and all that wait for one signal share a listener.

const pages = [
  {
    name: 'engine with Blob and fetch',
    path: 'dist/browser.js',
    import: '{ createFixedEngine, blobSource, fetchTransport, systemClock }',
    barKb: 12,
    reachedKb: 20,
  },
  {
    name: 'createUplink in a browser',
    path: 'dist/browser.js',
    import: '{ createUplink, blobSource }',
    barKb: 36,
    reachedKb: 74.5,
  },
  { name: 'whole browser face', path: 'dist/browser.js', import: '*', barKb: 36, reachedKb: 75.5 },
  // The face's 36 and 12 on top.
  { name: 'element with the face that it drives', path: 'dist/element.js', import: '*', barKb: 48, reachedKb: 91 },
  // React itself is the host's, and so is the Uplink that it is given.
  {
    name: 'hook for React',
    path: 'dist/react.js',
    import: '{ useUpload }',
    barKb: 1.5,
    reachedKb: 1.5,
    ignore: ['react'],
  },
]

export default pages.map(({ name, path, import: names, barKb, reachedKb, ignore }) => ({
  name: `${name} (bar ${barKb} kB, reached ${reachedKb} kB)`,
  path,
  import: names,
  limit: `${reachedKb} kB`,
  gzip: true,
  ...(ignore === undefined ? {} : { ignore }),
  // Files of ours without side effects are left out on purpose.
  modifyEsbuildConfig: (config) => ({ ...config, logOverride: { 'ignored-bare-import': 'silent' } }),
}))
