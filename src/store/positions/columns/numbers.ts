import type { ByteSink } from "../sink.ts";
import { BlockDamaged, type BodyReader, mostVarint, writeVarint } from "./bytes.ts";

/*
 * A column of numbers. The reader knows how many there are.
 *   u8 form; u8 decimals, except in the form `doubles`; then by form:
 *   constant:    the number, once
 *   steps:       of each number, the difference from the one before (of the first, from 0)
 *   accelerated: of each number, the difference of its step from the step before: short for times at a fixed interval
 *   doubles:     eight bytes each
 * All but doubles are whole multiples of 10^-decimals, as zigzag varints: 0, -1, 1, -2 ... are 0, 1, 2, 3 ...
 */
const constant = 0;
const steps = 1;
const accelerated = 2;
const doubles = 3;

/** From this on, the difference of two steps may not be exact. */
const largest = 2 ** 49;
/** Numbers with more decimals are stored as doubles. */
const mostDecimals = 9;

const scales = Array.from({ length: mostDecimals + 1 }, (_, decimals) => 10 ** decimals);

/** One for all: it holds nothing between two columns. */
let wholesMade = new Float64Array(1024);

/** Appends a column. */
export function putNumbers(sink: ByteSink, values: readonly number[]): void {
  if (wholesMade.length < values.length) wholesMade = new Float64Array(2 * values.length);
  const wholes = wholesMade.subarray(0, values.length);
  const decimals = scales.findIndex((scale) => areWhole(values, scale, wholes));
  if (decimals < 0) {
    sink.byte(doubles);
    for (const value of values) sink.float64(value);
    return;
  }
  const form = formOf(wholes);
  sink.byte(form);
  sink.byte(decimals);
  sink.reserve(mostVarint * wholes.length);
  const { bytes } = sink;
  let { length: at } = sink;
  let before = 0;
  let step = 0;
  for (let index = 0; index < wholes.length; index++) {
    const whole = wholes[index] ?? 0;
    const next = whole - before;
    at = writeVarint(bytes, at, zigzag(form === accelerated ? next - step : next));
    if (form === constant) break;
    step = next;
    before = whole;
  }
  sink.length = at;
}

/** Whether all values come back exactly from whole multiples of 1 / scale, which `wholes` has then. */
function areWhole(values: readonly number[], scale: number, wholes: Float64Array): boolean {
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    const whole = Math.round(value * scale);
    if (!(Math.abs(whole) < largest) || whole / scale !== value || Object.is(value, -0)) return false;
    wholes[index] = whole;
  }
  return true;
}

function formOf(wholes: Float64Array): number {
  let before = 0;
  let step = 0;
  let ofSteps = 0;
  let ofAccelerated = 0;
  let same = true;
  for (let index = 0; index < wholes.length; index++) {
    const whole = wholes[index] ?? 0;
    if (whole !== wholes[0]) same = false;
    const next = whole - before;
    ofSteps += bitsOf(next);
    ofAccelerated += bitsOf(next - step);
    step = next;
    before = whole;
  }
  if (same) return constant;
  return ofAccelerated < ofSteps ? accelerated : steps;
}

/** Bits of a whole number without its sign; 40 for all large ones. */
function bitsOf(value: number): number {
  const size = Math.abs(value);
  return size < 0x7fff_ffff ? 32 - Math.clz32(size) : 40;
}

function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

function unzigzag(value: number): number {
  if (value < 0x7fff_ffff) return (value >>> 1) ^ -(value & 1);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/**
 * Reads a column of `count` equal numbers and returns that number. Reads nothing and returns undefined when the column
 * has another form or is empty.
 */
export function readConstant(body: BodyReader, count: number): number | undefined {
  return count > 0 && body.bytes[body.at] === constant ? readNumbers(body, 1)[0] : undefined;
}

/** Reads a column of `count` numbers. */
export function readNumbers(body: BodyReader, count: number): Float64Array {
  const form = body.byte();
  if (form > doubles) throw new BlockDamaged("a column has no known form");
  const values = body.numbers(count);
  if (form === doubles) {
    for (let index = 0; index < count; index++) values[index] = body.float64();
    return values;
  }
  const scale = scales[body.byte()];
  if (scale === undefined) throw new BlockDamaged("a column has too many decimals");
  if (form === constant) return count === 0 ? values : values.fill(unzigzag(body.varint()) / scale);
  readSteps(body, values, form === accelerated, scale);
  return values;
}

/**
 * Reads steps and adds them up. Opening a block spends most of its time here. Most steps take one or two bytes, which
 * are read without a call.
 */
function readSteps(body: BodyReader, values: Float64Array, isAccelerated: boolean, scale: number): void {
  const { bytes } = body;
  let { at } = body;
  let before = 0;
  let step = 0;
  for (let index = 0; index < values.length; index++) {
    const low = bytes[at++] ?? 0;
    const high = low < 128 ? 0 : (bytes[at++] ?? 0);
    let next: number;
    if (high < 128) {
      const value = low < 128 ? low : (low & 127) | (high << 7);
      next = (value >>> 1) ^ -(value & 1);
    } else {
      body.at = at - 2;
      next = unzigzag(body.varint());
      at = body.at;
    }
    if (isAccelerated) next += step;
    step = next;
    before += next;
    values[index] = before / scale;
  }
  if (at > bytes.length) throw new BlockDamaged("a block ends too early");
  body.at = at;
}
