// What a page must load, minified and gzipped, with everything it needs. Each entry has the bar it is meant to meet and
// the size it has reached, rounded up to half a kilobyte. A larger build fails, so the size can only come nearer to its
// bar. Whoever makes an entry smaller lowers its figure here. docs/performance.md says what the rest is made of.
// The last increases were made on purpose. Half a kilobyte in each entry: a storage that answers 503 for minutes fails no file, a
// create waits for a service that is away, a host's own protocol that never settles delays neither pause nor cancel, an abandoned
// session ends after its last part, and progress has a final event. Then 0.8 kB: closing stops whatever still runs, and an outage says
// whose it is. Then 0.4 kB: a storage that refuses is asked as often as needed, and all that wait for one signal share one listener.

const pages = [
  {
    name: 'engine with Blob and fetch',
    path: 'dist/browser.js',
    import: '{ createFixedEngine, blobSource, fetchTransport, systemClock }',
    barKb: 12,
    reachedKb: 19.5,
  },
  {
    name: 'createUplink in a browser',
    path: 'dist/browser.js',
    import: '{ createUplink, blobSource }',
    barKb: 36,
    reachedKb: 73.5,
  },
  { name: 'whole browser face', path: 'dist/browser.js', import: '*', barKb: 36, reachedKb: 74.5 },
  // The face's bar of 36 kB, and 12 kB for the element.
  { name: 'element with the face that it drives', path: 'dist/element.js', import: '*', barKb: 48, reachedKb: 91 },
  // React itself and the Uplink are the host's.
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
  // We leave out our own side-effect-free files on purpose.
  modifyEsbuildConfig: (config) => ({ ...config, logOverride: { 'ignored-bare-import': 'silent' } }),
}))
