// What an error of the platform is, by its code: its message is for people and changes.

/** True for an error with this code, such as ENOENT. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
