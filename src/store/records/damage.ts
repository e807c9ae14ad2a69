/** Stored bytes of records are damaged, or of a version that this program does not know. */
export class RecordsDamaged extends Error {
  override readonly name: string = "RecordsDamaged";
}

/** Returns what is wrong with the bytes of records that could not be read, or undefined when the error has another cause. */
export function recordsDamage(error: unknown): string | undefined {
  if (error instanceof RecordsDamaged) return error.message;
  // A field ends behind the bytes.
  return error instanceof RangeError && !isOutOfMemory(error) ? "a record is cut short" : undefined;
}

/** Whether there was no memory for a buffer. V8 throws a `RangeError` for that, too, and only its message tells. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof RangeError && error.message === "Array buffer allocation failed";
}
