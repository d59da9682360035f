// What the built package loads of undici, in a file of CommonJS; see tsup.config.ts. On one line, Node would read undici's file all the same.
const Client = require('undici/lib/dispatcher/client.js')
module.exports = Client
