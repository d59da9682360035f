// Which database failures are transient: the call did nothing, and the same call may succeed later.

/**
 * The beginnings of PostgreSQL's codes: connection trouble (08), a server that does not write, because another one took over
 * (25006), conflicting transactions (40), insufficient resources (53), a lock that is held elsewhere (55P03), a stop or timeout by
 * the server (57).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING_STATES = /^(?:08...|25006|40...|53...|55P03|57...)$/
/**
 * A name that is not found was found at the start. In a network of containers, that of a stopped one is not known. Where no more files
 * or connections can be opened, some will be closed.
 */
const PASSING_CODES =
  /^E(?:CONN(?:REFUSED|RESET)|PIPE|TIMEDOUT|HOST(?:UNREACH|DOWN)|NET(?:UNREACH|DOWN)|ADDRNOTAVAIL|AI_AGAIN|NOTFOUND|MFILE|NFILE)$/
/** Errors that pg reports without a code. */
const PASSING_WORDS =
  /^(?:timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error)/

/** The connection broke at a commit: all of the transaction is done, or nothing. */
export class CommitInDoubtError extends Error {
  constructor(cause: unknown) {
    super('The database did not say whether it committed.', { cause })
    this.name = 'CommitInDoubtError'
  }
}

/** True when a disk or its quota is full: the service's own (ENOSPC, EDQUOT) or the database's (53100). */
export function isDiskFull(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    /^(?:ERR_SERVICE_DATA_FULL|ENOSPC|EDQUOT|53100)$/.test(String(error.code))
  )
}

/** True when the database or this machine was away, busy or restarting, and nothing was done. False for every mistake of ours. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return PASSING_STATES.test(code) || PASSING_CODES.test(code) || PASSING_WORDS.test(error.message)
}
