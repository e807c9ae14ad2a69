/** Stored bytes of records are damaged, or of a version that this program does not know. */
export class RecordsDamaged extends Error {
  override readonly name: string = "RecordsDamaged";
}

/**
 * Returns what is wrong with the bytes of records that could not be read, or undefined when the error has another
 * cause.
 */
export function recordsDamage(error: unknown): string | undefined {
  if (error instanceof RecordsDamaged) return error.message;
  // A field ends behind the bytes.
  return error instanceof RangeError && !isOutOfMemory(error) ? "a record is cut short" : undefined;
}

/**
 * Whether there was no memory for a buffer. Both V8 and Node throw a `RangeError` for that, too. V8's has no code, and
 * only its message tells.
 */
export function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof RangeError)) return false;
  const isOfNode = "code" in error && error.code === "ERR_MEMORY_ALLOCATION_FAILED";
  return isOfNode || error.message === "Array buffer allocation failed";
}
