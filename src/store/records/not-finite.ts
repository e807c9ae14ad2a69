const openBrace = 0x7b;
const openBracket = 0x5b;
const colon = 0x3a;
const minus = 0x2d;
const letterI = 0x49;
const letterN = 0x4e;

/** Whether a field of the extras has a number that is not finite, and so no JSON. Fields end where a list or the attributes begin. */
export function hasNotFinite(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte === openBrace || byte === openBracket) return false;
    if (byte !== colon) continue;
    const first = bytes[at + 1];
    if (first === letterI || first === letterN || (first === minus && bytes[at + 2] === letterI)) return true;
  }
  return false;
}
