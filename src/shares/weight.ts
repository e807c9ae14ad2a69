/** What a value takes in memory, bytes, by and large: its texts, and some for each part. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return 32 + value.length;
  if (value instanceof Uint8Array) return 100 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 64;
  if (value instanceof Set) for (const item of value) bytes += weightOf(item) + 32;
  else for (const part of Object.values(value)) bytes += weightOf(part);
  return bytes;
}
