/**
 * A source of numbers in [0, 1) that gives the same sequence for the same seed on every machine. For simulation only,
 * never for secrets.
 */
export type Random = () => number;

/** The sequence of a seed. */
export function randomOf(seed: string): Random {
  let state = hashText(seed);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    return scramble(state) / 0x1_0000_0000;
  };
}

/**
 * A number in [0, 1) that belongs to a seed and three integers, without any state: the same place always looks the
 * same.
 */
export function randomAt(seed: number, a: number, b: number, c: number): number {
  const mixed = scramble(scramble(scramble(seed ^ (a | 0)) ^ (b | 0)) ^ (c | 0));
  return mixed / 0x1_0000_0000;
}

/** 32-bit hash of a text (FNV-1a, then mixed so that near texts give far numbers). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return scramble(hash);
}

/** A number between two bounds. */
export function between(random: Random, low: number, high: number): number {
  return low + (high - low) * random();
}

/** Mixes 32 bits so that each input bit changes about half of the output's (multiply and xor-shift rounds). */
function scramble(value: number): number {
  let mixed = (value + 0x7f4a7c15) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
