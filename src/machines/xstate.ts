// What the package uses of XState, in one file for Node; see tsup.config.ts. Everything else imports XState itself.

export { assign, createActor, createMachine, fromPromise } from 'xstate'
