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

/** What Node says where there is no memory: for a buffer, or for zstd at work, or to set zstd up. */
const noMemory: ReadonlySet<unknown> = new Set([
  "ERR_MEMORY_ALLOCATION_FAILED",
  "ZSTD_error_memory_allocation",
  "ERR_ZLIB_INITIALIZATION_FAILED",
]);

/** Whether there was no memory. For a buffer, both V8 and Node throw a `RangeError`, as for a field that ends behind the bytes. V8's has no code, and only its message tells. */
export function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isOfNode = "code" in error && noMemory.has(error.code);
  return isOfNode || (error instanceof RangeError && error.message === "Array buffer allocation failed");
}
