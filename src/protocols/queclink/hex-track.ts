import type { Effect } from "../../model/effects.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf } from "../../wire/report.ts";

/** The most points of a message: each has a byte at least, and a message has at most 16 KiB. */
const mostPoints = 16_384;

/** A value's lowest bits as a signed number. */
function signed(value: number, bits: number): number {
  const half = 2 ** (bits - 1);
  return value >= half ? value - 2 * half : value;
}

/**
 * A track of a point a second: whole points, of which the first has a time, and differences from the point before. Of a
 * point that is none, or the same again, only its second counts. (GB100, "Compressed report")
 */
export function readTrack(reader: Reader, last: Draft): readonly Effect[] {
  const count = Math.min(reader.u16(), mostPoints);
  const effects: Effect[] = [];
  let [time, speed, course, longitude, latitude] = [0, 0, 0, 0, 0];
  for (let index = 0; index < count; index++) {
    if (time > 0) time++;
    const kind = reader.peek() >> 6;
    if (kind === 1) {
      const bits = reader.u24();
      speed = (bits >> 9) & 0xfff;
      course = bits & 0x1ff;
      longitude = reader.i32();
      latitude = reader.i32();
      if (time === 0) time = reader.u32();
    } else if (kind === 2) {
      // 2 bits kind, 1 bit fix, then differences: speed 7, course 7, longitude 12, latitude 11.
      const bits = reader.u24() * 0x10000 + reader.u16();
      speed += signed(Math.floor(bits / 2 ** 30) & 0x7f, 7);
      course += signed(Math.floor(bits / 2 ** 23) & 0x7f, 7);
      longitude += signed(Math.floor(bits / 2 ** 11) & 0xfff, 12);
      latitude += signed(bits & 0x7ff, 11);
    } else {
      reader.skip(1);
      continue;
    }
    const point = { time: time * 1000, valid: true, latitude: latitude / 1e6, longitude: longitude / 1e6 };
    effects.push(
      fixOf({ ...point, speed: Math.max(speed, 0) / 10, course: ((course % 360) + 360) % 360 }, pointReport(last)),
    );
  }
  return effects;
}

/** A report of its own for each point. */
function pointReport({ attributes }: Draft): Draft {
  const report = draft();
  report.attributes.event = attributes.event ?? "compressed";
  if (attributes.archive === true) report.attributes.archive = true;
  return report;
}
