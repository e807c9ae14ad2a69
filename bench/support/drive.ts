import type { Fix } from "../../src/model/effects.ts";

/** What a tracker reports beside its position. */
export type Reported = Pick<Fix, "readings" | "attributes">;

/** When drives begin. */
export const driveStart = Date.UTC(2026, 5, 1);

/** As a tracker that reports its position and nothing else. */
export function noReadings(): Reported {
  return { readings: {}, attributes: {} };
}

/** As a tracker on the bus of a car reports: some stay, some count, some are noisy. */
export function carReadings(at: number): Reported {
  const noise = (most: number) => Math.floor(Math.random() * most);
  return {
    readings: {
      ignition: at % 360 < 200,
      input1: at % 360 < 200,
      input2: false,
      satellites: 8 + noise(5),
      battery: 90,
      rpm: at % 360 < 200 ? 800 + noise(1800) : 0,
      fuel: 70 - Math.floor(at / 400),
    },
    attributes: {
      voltage: (13_800 + noise(200)) / 1000,
      gsm: 3 + noise(2),
      hdop: (7 + noise(4)) / 10,
      io24: noise(90),
      io241: 24_701,
      io199: at * 110,
    },
  };
}

/** A drive with noise in each coordinate, and stops. */
export function* drive(positions: number, everyMs: number, readings: (at: number) => Reported): Generator<Fix> {
  let [latitude, longitude, course] = [48 + Math.random(), 11 + Math.random(), 90];
  for (let at = 0; at < positions; at++) {
    const km = at % 360 < 200 ? 0.1 + Math.random() * 0.1 : 0;
    course = (course + (km > 0 ? Math.random() * 30 - 15 : 0) + 360) % 360;
    latitude += (km * Math.cos((course * Math.PI) / 180)) / 111.2;
    longitude += (km * Math.sin((course * Math.PI) / 180)) / 74;
    const [speed, time] = [Math.round(km * 360), driveStart + at * everyMs];
    const motion = {
      latitude,
      longitude,
      altitude: 400 + Math.floor(Math.random() * 3),
      speed,
      course: Math.round(course),
    };
    yield { type: "fix", time, valid: true, ...motion, alarms: [], ...readings(at) };
  }
}
