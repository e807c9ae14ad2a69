/** IOERR (a disk that can't read a sector), CORRUPT, NOTADB. */
const codes = [10, 11, 26];

/** Whether a failure of the engine says that what it read can't be right. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Error && "errcode" in error && codes.includes(Number(error.errcode) & 0xff);
}
