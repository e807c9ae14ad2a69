import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Fix, Report } from "../model/effects.ts";
import { corrected } from "./correction.ts";

const received = Date.UTC(2026, 0, 1, 12, 0, 0, 5);
const empty = { alarms: [], readings: {}, attributes: {} };
const fix = (time: number, speed?: number): Fix => ({
  type: "fix",
  time,
  valid: true,
  latitude: 48,
  longitude: 11,
  ...(speed !== undefined && { speed }),
  ...empty,
});
const knots = { speedUnit: "kn" } as const;

describe("what a sender means otherwise than its protocol says", () => {
  it("is its clock: an offset of two hours is taken off, and not off a time of arrival", () => {
    const local = Date.UTC(2026, 0, 1, 14);
    const reports: readonly Report[] = [
      fix(local),
      { type: "readings", time: local, ...empty },
      { type: "readings", ...empty },
      fix(received),
    ];
    const times = corrected(reports, { timeOffset: 7200 }, {}, received).map(({ time }) => time);
    assert.deepEqual(times, [Date.UTC(2026, 0, 1, 12), Date.UTC(2026, 0, 1, 12), undefined, received]);
    assert.equal(corrected([fix(0)], { timeOffset: -18_000 }, {}, received)[0]?.time, 18_000_000);
  });

  it("is its unit of speed, whatever that of the protocol is", () => {
    // The number 10 on the wire: 10 kn are 18.52 km/h, 10 m/s are 36 km/h.
    const speed = (unit: "kn" | "m/s" | "km/h", decoded: number, protocol: { readonly speedUnit?: "kn" }) => {
      const [report] = corrected([fix(0, decoded)], { speedUnit: unit }, protocol, received);
      return report?.type === "fix" ? Number(report.speed?.toFixed(6)) : undefined;
    };
    assert.equal(speed("m/s", 18.52, knots), 36);
    assert.equal(speed("km/h", 18.52, knots), 10);
    assert.equal(speed("kn", 18.52, knots), 18.52);
    assert.equal(speed("m/s", 10, {}), 36);
    assert.equal(speed("kn", 10, {}), 18.52);
    assert.deepEqual(corrected([fix(0)], { speedUnit: "m/s" }, knots, received), [fix(0)]);
  });

  it("is nothing, as mostly: then the reports are not looked at", () => {
    const reports = [fix(0, 5)];
    assert.equal(corrected(reports, {}, knots, received), reports);
  });
});
