/** A word whose highest bit is the sign of the rest. */
export function signedWord(value: number): number {
  return value & 0x8000 ? -(value & 0x7fff) + 0 : value;
}
