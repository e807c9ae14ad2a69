import type { Report } from "../model/effects.ts";

/** Stand for what is not a number. Small integers, so that they differ from the halves of usual doubles. */
const absent = 0x11;
const yes = 0x22;
const no = 0x33;

/** Hashes of names; those of a phone app's own parameters must not fill the memory. */
const nameHashes = new Map<string, number>();
const mostNames = 4096;

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

/**
 * 52-bit hash of all that a report says but its time, which is a key of its own: a 32-bit multiplicative hash, and 20 bits of a sum over its steps.
 * Two different reports of one device at the same millisecond share it once in billions: it tells repeats, it is no defence against forgery.
 * Position, speed and course are hashed as they are stored, so that a decoder's rounding does not make two of one.
 */
export class ContentHash {
  #low = 0;
  #high = 0;

  /** The hash of a report whose position is stored as `located` says; a report without a position has none. */
  of(report: Report, located: Located | undefined): number {
    this.#low = 0x27d4eb2f;
    // As a signed integer, 0x9e3779b9: one that is no small integer to the engine makes each step a floating-point one.
    this.#high = -0x61c88647;
    if (located !== undefined) {
      this.#step(located.valid ? yes : no);
      this.#value(located.latitude);
      this.#value(located.longitude);
      this.#value(located.speed);
      this.#value(located.course);
    }
    if (report.type === "fix") this.#value(report.altitude);
    for (const name in report.readings) {
      this.#step(nameHash(name));
      this.#value(report.readings[name as keyof typeof report.readings]);
    }
    for (const name in report.attributes) {
      this.#step(nameHash(name));
      this.#value(report.attributes[name]);
    }
    for (const alarm of report.alarms) this.#step(nameHash(alarm));
    return this.#sum();
  }

  #step(value: number): void {
    this.#low = Math.imul(this.#low ^ value, 0x5bd1e995);
    this.#low ^= this.#low >>> 15;
    this.#high = ((this.#high << 5) - this.#high + this.#low) | 0;
  }

  #value(value: number | string | boolean | undefined): void {
    if (typeof value === "number") {
      double[0] = value;
      this.#step(halves[0] ?? 0);
      this.#step(halves[1] ?? 0);
    } else if (typeof value === "string") {
      this.#step(value.length);
      for (let index = 0; index < value.length; index++) this.#step(value.charCodeAt(index));
    } else this.#step(value === undefined ? absent : value ? yes : no);
  }

  #sum(): number {
    this.#step(this.#high);
    const high = this.#high ^ (this.#high >>> 16);
    const low = this.#low ^ (this.#low >>> 13);
    return (high & 0xfffff) * 0x1_0000_0000 + (low >>> 0);
  }
}

/** Position, speed and course as they are stored. */
export interface Located {
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
}

function nameHash(name: string): number {
  const known = nameHashes.get(name);
  if (known !== undefined) return known;
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  if (nameHashes.size < mostNames) nameHashes.set(name, hash);
  return hash;
}
