// Recognizes platform errors by their code, because their messages are for people and change.

/** True for an error with this code, such as ENOENT. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
