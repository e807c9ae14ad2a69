/** Added for a value that was not reported, so that absence and zero differ. */
const absent = 0x7fffffff;

/** What of a record is hashed: all that the tracker reported but its time, which is a key of its own. */
export interface HashedContent {
  readonly valid: boolean;
  /** Without a position of its own, a record's repeated one is not part of its content. */
  readonly positioned: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
  readonly extras: string;
}

/**
 * 52-bit hash of a record's content (a 32-bit multiplicative hash, and 20 bits of a sum over its steps), as a safe integer.
 * Two different records of one device at the same millisecond share it once in 4.5e15: it tells repeats, it is no defence against forgery.
 */
export function contentHash(content: HashedContent): number {
  let high = content.valid ? 0x9e3779b9 : 0x85ebca6b;
  let low = content.positioned ? 0xc2b2ae35 : 0x27d4eb2f;
  const numbers = content.positioned ? 4 : 0;
  for (let index = 0; index < numbers; index++) {
    const value = scaled(content, index);
    high = Math.imul(high ^ value, 0x01000193);
    high ^= high >>> 15;
    low = Math.imul(low ^ value, 0x85ebca6b);
    low ^= low >>> 13;
  }
  const { extras } = content;
  for (let index = 0; index < extras.length; index++) {
    low = Math.imul(low ^ extras.charCodeAt(index), 0x5bd1e995);
    low ^= low >>> 15;
    high = ((high << 5) - high + low) | 0;
  }
  high ^= high >>> 16;
  low ^= low >>> 13;
  return (high & 0xfffff) * 0x1_0000_0000 + (low >>> 0);
}

function scaled(content: HashedContent, index: number): number {
  switch (index) {
    case 0:
      return Math.round(content.latitude * 1e7) | 0;
    case 1:
      return Math.round(content.longitude * 1e7) | 0;
    case 2:
      return content.speed === undefined ? absent : Math.round(content.speed * 100) | 0;
    default:
      return content.course === undefined ? absent : Math.round(content.course * 100) | 0;
  }
}
