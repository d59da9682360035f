// Which failures of the database pass by themselves: the call has done nothing, and the same call may succeed later.

/**
 * PostgreSQL's codes, by their beginning: connection trouble (08), transactions that met (40), too little of something
 * (53), a lock that another one holds (55P03), a stop or a timeout by the server (57).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING_STATES = /^(?:08...|40...|53...|55P03|57...)$/
const PASSING_CODES = /^E(?:CONN(?:REFUSED|RESET)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN)$/
/** What pg says without any code. */
const PASSING_WORDS =
  /^(?:timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error)/

/** True when a disk is full, or what may be kept on it: the service's own (ENOSPC, EDQUOT), or the database's (53100). */
export function isDiskFull(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    /^(?:ERR_SERVICE_DATA_FULL|ENOSPC|EDQUOT|53100)$/.test(String(error.code))
  )
}

/** True when the database was away, busy or restarting. False for every mistake of ours. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return PASSING_STATES.test(code) || PASSING_CODES.test(code) || PASSING_WORDS.test(error.message)
}
