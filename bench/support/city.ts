import type { AlertTrigger } from "../../src/model/alert-rule.ts";
import type { Zone } from "../../src/model/geofence.ts";
import type { Journey } from "./avl.ts";

/** Where the city is, degrees, and a degree of its latitude and longitude, km. */
const latitude0 = 54.6;
const longitude0 = 25.2;
const latitudeKm = 111.2;
const longitudeKm = latitudeKm * Math.cos((latitude0 * Math.PI) / 180);
/** Half of its width, km. */
export const cityKm = 15;
/** A tracker drives at this speed on the average, km/s, and stands for a minute of each quarter of an hour. */
const kmPerSecond = 0.015;
const quarter = 900;
const driving = 840;

const elements: Journey["elements"] = {
  ones: [
    [239, 1],
    [240, 1],
    [21, 4],
    [69, 1],
    [1, 0],
    [2, 0],
    [48, 80],
  ],
  twos: [
    [181, 12],
    [182, 9],
    [66, 13_845],
    [67, 4_012],
    [36, 1500],
  ],
  fours: [
    [16, 123_456],
    [241, 26_201],
    [72, 0],
  ],
};
/**
 * Offsets of what changes, in a record: two bytes of the event and the count of all, then each group after its count.
 */
const ones = 24 + 2 + 1;
const twos = ones + elements.ones.length * 2 + 1;
const fours = twos + elements.twos.length * 3 + 1;
const motionAt = ones + 1 * 2 + 1;
const input1At = ones + 4 * 2 + 1;
const input2At = ones + 5 * 2 + 1;
const fuelAt = ones + 6 * 2 + 1;
const voltageAt = twos + 2 * 3 + 1;
const rpmAt = twos + 4 * 3 + 1;
const temperatureAt = fours + 2 * 5 + 1;

/**
 * The way of a tracker through the city: round and round, now faster and now slower. A door is opened now and then, the
 * tank is filled every two hours, a cold store grows warm and cold; where it is and what it reports depends on the time
 * alone, so each run goes on elsewhere.
 */
export function cityJourney(index: number): Journey {
  const radius = 3 + (index % 50) / 5;
  return {
    elements,
    place(view, at, time) {
      const t = Math.floor(time / 1000) + index * 37;
      const stands = t % quarter >= driving;
      const km = (Math.floor(t / quarter) * driving + Math.min(t % quarter, driving)) * kmPerSecond;
      const angle = km / radius;
      view.setInt32(at + 9, Math.round((longitude0 + (radius * Math.cos(angle)) / longitudeKm) * 1e7));
      view.setInt32(at + 13, Math.round((latitude0 + (radius * Math.sin(angle)) / latitudeKm) * 1e7));
      view.setUint16(at + 22, stands ? 0 : Math.round(62 + 22 * Math.sin(t / 40)));
      view.setUint8(at + motionAt, stands ? 0 : 1);
      view.setUint8(at + input1At, t % 500 < 20 ? 1 : 0);
      view.setUint8(at + input2At, t % 1500 < 300 ? 1 : 0);
      view.setUint8(at + fuelAt, Math.round(90 - (t % 7200) / 100) + (t % 3));
      view.setUint16(at + voltageAt, 13_800 + ((t * 13) % 90));
      view.setUint16(at + rpmAt, stands ? 800 : Math.round(1700 + 900 * Math.sin(t / 25)));
      view.setInt32(at + temperatureAt, Math.round(-180 + 30 * Math.sin(t / 300)) + (t % 2));
    },
  };
}

/** A number from 0 to 1 that is always the same for the same seed, and scattered. */
function scattered(seed: number): number {
  const value = Math.sin(seed * 12.9898 + 4.1414) * 43_758.5453;
  return value - Math.floor(value);
}

/** Longitude and latitude of place number `index` of a city. */
export function cityPlace(index: number, halfKm: number): readonly [number, number] {
  const east = (2 * scattered(index * 2 + 0.3) - 1) * halfKm;
  const north = (2 * scattered(index * 2 + 1.3) - 1) * halfKm;
  return [longitude0 + east / longitudeKm, latitude0 + north / latitudeKm];
}

/**
 * Zone number `index`, with some hundred metres to a kilometre from its middle: two of three are circles, the others
 * polygons and routes. `halfKm`: half the width of the square that they lie in; where it grows with their number, as
 * many lie over each place.
 */
export function cityZone(index: number, halfKm = cityKm): Zone {
  const [longitude, latitude] = cityPlace(index, halfKm);
  const km = 0.2 + 0.6 * scattered(index * 3 + 0.7);
  const corner = (eastKm: number, northKm: number) =>
    [longitude + eastKm / longitudeKm, latitude + northKm / latitudeKm] as const;
  if (index % 3 < 2) return { kind: "circle", center: corner(0, 0), radius: km };
  if (index % 6 < 3) {
    const ring = Array.from({ length: 12 }, (_, at) => {
      const far = km * (0.7 + 0.3 * scattered(index + at));
      return corner(far * Math.cos((at * Math.PI) / 6), far * Math.sin((at * Math.PI) / 6));
    });
    return { kind: "polygon", rings: [[...ring, corner(km * (0.7 + 0.3 * scattered(index)), 0)]] };
  }
  const bends = Array.from({ length: 8 }, (_, at) => corner((at - 4) * km * 0.5, km * scattered(index + at)));
  return { kind: "route", line: bends, width: 0.1 };
}

/** Zones that rule number `index` names. */
function some(zones: readonly string[], index: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => zones[(index * 17 + at * 131) % zones.length] ?? "");
}

/** Ten kinds of rules, as a fleet has them, made harder by `index` (0 to 9) so that ten times ten are not the same. */
export function cityRules(index: number, zones: readonly string[]): readonly AlertTrigger[] {
  const common: readonly AlertTrigger[] = [
    { type: "speedOver", parameters: { kmh: 83 + index } },
    { type: "attributeLess", parameters: { attribute: "externalVoltage", value: 11.5 - index / 10 } },
    { type: "fuelDecrease", parameters: { tank: 1, points: 12 + index, minutes: 10 } },
    { type: "temperatureGreater", parameters: { probe: 1, celsius: -15.3 + index } },
    { type: "forbiddenZone", parameters: { zones: some(zones, index, 3) } },
    { type: "controlZone", parameters: { zones: some(zones, index + 100, 3) } },
    { type: "notMoving", parameters: { minutes: 0.9 + index * 5 } },
    { type: "offline", parameters: { minutes: 10 + index } },
    { type: "inputOn", parameters: { input: index % 2 === 0 ? 1 : 2 } },
    { type: "idling", parameters: { minutes: 0.8 + index * 2 } },
  ];
  const other: readonly AlertTrigger[] = [
    { type: "attributeGreater", parameters: { attribute: "rpm", value: 2590 + index * 100 } },
    { type: "attributeEqual", parameters: { attribute: "gnssStatus", value: 2 + index } },
    { type: "fuelIncrease", parameters: { tank: 1, points: 12 + index, minutes: 10 } },
    { type: "temperatureLess", parameters: { probe: 1, celsius: -20.9 - index } },
    { type: "controlPoint", parameters: { zones: some(zones, index + 200, 3), minutes: 1 } },
    { type: "route", parameters: { zones: some(zones, index + 300, 3) } },
    { type: "mileage", parameters: { km: 10 + index, repeat: true } },
    { type: "powerDisconnected", parameters: {} },
    { type: "inputActiveFor", parameters: { input: 2, minutes: 4 + index } },
    { type: "driverAuthenticationFailed", parameters: { drivers: [], seconds: 60 } },
  ];
  return index % 3 === 2 ? other : common;
}
