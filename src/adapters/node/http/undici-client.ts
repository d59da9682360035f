// What a bundler takes in place of undici-client.cjs: an import, which ESM can leave external. See tsup.config.ts.

export { default } from 'undici/lib/dispatcher/client.js'
