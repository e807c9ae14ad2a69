import type { Effect, Report } from "../../../src/model/effects.ts";
import type { ReadingName } from "../../../src/model/readings.ts";

/** Our reading for a name of the other server, and the factor from its unit to ours. */
const translations: Readonly<Record<string, readonly [ReadingName, number]>> = {
  adc1: ["analog1", 1],
  adc2: ["analog2", 1],
  adc3: ["analog3", 1],
  adc4: ["analog4", 1],
  armed: ["armed", 1],
  battery: ["batteryVoltage", 1],
  batteryLevel: ["battery", 1],
  blocked: ["blocked", 1],
  charge: ["charging", 1],
  coolantTemp: ["coolantTemperature", 1],
  deviceTemp: ["deviceTemperature", 1],
  door: ["doorOpen", 1],
  driverUniqueId: ["driverId", 1],
  engineLoad: ["engineLoad", 1],
  fuel: ["fuelVolume", 1],
  fuelLevel: ["fuel", 1],
  fuelUsed: ["fuelUsed", 1],
  hdop: ["hdop", 1],
  heartRate: ["heartRate", 1],
  hours: ["engineSeconds", 1e-3],
  humidity: ["humidity", 1],
  iccid: ["iccid", 1],
  ignition: ["ignition", 1],
  in1: ["input1", 1],
  in2: ["input2", 1],
  in3: ["input3", 1],
  in4: ["input4", 1],
  motion: ["motion", 1],
  obdOdometer: ["odometer", 1e-3],
  obdSpeed: ["vehicleSpeed", 1],
  odometer: ["odometer", 1e-3],
  out1: ["output1", 1],
  out2: ["output2", 1],
  pdop: ["pdop", 1],
  power: ["externalVoltage", 1],
  rpm: ["rpm", 1],
  sat: ["satellites", 1],
  satVisible: ["satellitesVisible", 1],
  steps: ["steps", 1],
  temp1: ["temperature", 1],
  temp2: ["temperature2", 1],
  temp3: ["temperature3", 1],
  temp4: ["temperature4", 1],
  throttle: ["throttle", 1],
  tripOdometer: ["tripOdometer", 1e-3],
  vdop: ["vdop", 1],
  vin: ["vin", 1],
};

type Value = string | number | boolean;

/**
 * What is wrong with the one reading that is asserted of a message; undefined where we have it. A name that is no reading of our catalogue stands
 * under its manual's name in the attributes, which can't be known here, so there the value is looked for under any name.
 */
export function compareReading(effects: readonly Effect[], key: string, value: Value | null): string | undefined {
  const reports = effects.filter((effect) => effect.type === "fix" || effect.type === "readings");
  const wrong = (actual: unknown) => `${key} ${JSON.stringify(actual)}, expected ${JSON.stringify(value)}`;
  if (key === "alarm") {
    const alarms = reports.flatMap((report) => report.alarms);
    const missing = String(value)
      .split(",")
      .filter((alarm) => !alarms.some((given) => given === alarm));
    return missing.length === 0 ? undefined : wrong(alarms);
  }
  if (key === "result") {
    const texts = effects.flatMap((effect) => (effect.type === "commandResult" ? [effect.text] : []));
    if (texts.some((text) => same(text, value))) return undefined;
  }
  if (key === "altitude") {
    const altitudes = reports.map((report) => (report.type === "fix" ? report.altitude : undefined));
    return altitudes.some((altitude) => same(altitude, value)) ? undefined : wrong(altitudes);
  }
  const [name, factor] = translations[key] ?? [];
  const expected = typeof value === "number" && factor !== undefined ? value * factor : value;
  const readings = name === undefined ? [] : reports.flatMap((report) => report.readings[name] ?? []);
  if (value === null) return readings.length === 0 ? undefined : wrong(readings);
  if (readings.some((reading) => same(reading, expected))) return undefined;
  if (readings.length > 0) return wrong(readings);
  return reports.some((report) => anywhere(report, value)) ? undefined : wrong("nothing");
}

function same(actual: Value | undefined, expected: Value | null): boolean {
  if (typeof actual === "number" && typeof expected === "number") return Math.abs(actual - expected) < 1e-3;
  return String(actual).toLowerCase() === String(expected).toLowerCase();
}

/**
 * Whether the value stands under any name; of a number also its thousandth, since that server keeps some values in mV or m, and its hex, since
 * manuals give bit fields so.
 */
function anywhere(report: Report, value: Value): boolean {
  const forms = typeof value === "number" ? [value, value / 1000, value.toString(16)] : [value];
  const given = [...Object.values(report.attributes), ...Object.values(report.readings)];
  return given.some((each) => forms.some((form) => same(each, form)));
}
