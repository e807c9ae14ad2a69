import Type, { type Static, type TObject } from "typebox";
import { type Alarm, alarmNames } from "../model/alarms.ts";
import type { AlertType, WatchedInput } from "../model/alert-rule.ts";
import { anyText, notBlank } from "./forms.ts";
import { GivenText } from "./schema.ts";

/** Zones that one rule names: a rule for more places than that is several. */
const mostZones = 100;
/** Drivers that may identify: those of a shift of one vehicle, or of a small fleet. */
const mostDrivers = 500;

function oneOf<T extends number>(values: readonly T[], description: string) {
  return Type.Unsafe<T>({ type: "integer", enum: [...values], description });
}

const tank = Type.Optional(oneOf<1 | 2>([1, 2], "Unset: 1."));
const probe = Type.Optional(oneOf<1 | 2>([1, 2], "Unset: 1."));
const input = oneOf<WatchedInput>([1, 2, 3, 4], "Digital input.");
const repeat = Type.Optional(Type.Boolean({ description: "At each multiple, too. Unset: false." }));
/** A number that the rules themselves bound. (Bounds of the validator would hide what else is wrong with a rule.) */
function between(minimum: number, maximum: number, description: string) {
  return Type.Number({ description, documented: { minimum, maximum } });
}

/** A year, in minutes. */
const longest = 525_600;
const minutes = between(0.1, longest, "For this time.");
const attribute = GivenText({
  minLength: 1,
  maxLength: 128,
  documented: { pattern: notBlank },
  description: "Name of a reading or attribute, or `speed`, `course`, `altitude`, `milleage`.",
  examples: ["fuel"],
});
const zones = Type.Unsafe<readonly string[]>({
  type: "array",
  items: { type: "string", maxLength: 64, pattern: anyText },
  maxItems: mostZones,
  uniqueItems: true,
  description: "Ids of geofences, at least one.",
  documented: { minItems: 1 },
});
const none = Type.Object({});
const threshold = Type.Object({
  attribute,
  value: Type.Number({ description: "A value that the attribute can have: 0 to 100 if it is a percentage." }),
});
const litres = (least: number) => Type.Optional(between(least, 10_000, "l"));
/** One of two amounts. */
const eitherOr = (one: string, other: string) => ({
  documented: {
    oneOf: [
      { required: [one], properties: { [other]: false } },
      { required: [other], properties: { [one]: false } },
    ],
  },
});
const fuelChange = Type.Object(
  {
    tank,
    points: Type.Optional(between(1, 100, "Percentage points. Give this or `litres`.")),
    litres: litres(1),
    minutes: between(1, 1440, "The time within which the level changes."),
  },
  eitherOr("points", "litres"),
);
const minutesOnly = Type.Object({ minutes });
const speed = Type.Object({ kmh: between(0, 500, "km/h") });
const percent = between(0, 100, "%");
const inputOnly = Type.Object({ input });
const temperature = Type.Object({ probe, celsius: between(-273, 1500, "°C") });
const zonesOnly = Type.Object({ zones });

/** What each type of rule is told, as a body gives it. */
export const parameterSchemas = {
  attributeEqual: Type.Object({
    attribute,
    value: Type.Unsafe<string | number | boolean>({
      type: ["string", "number", "boolean"],
      maxLength: 1024,
      pattern: anyText,
    }),
  }),
  attributeGreater: threshold,
  attributeLess: threshold,
  fuelDecrease: fuelChange,
  fuelIncrease: fuelChange,
  fuelLess: Type.Object(
    { tank, percent: Type.Optional(between(0, 100, "%. Give this or `litres`.")), litres: litres(0) },
    eitherOr("percent", "litres"),
  ),
  driverAuthenticationFailed: Type.Object({
    drivers: Type.Optional(
      Type.Unsafe<readonly string[]>({
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 64, pattern: anyText },
        maxItems: mostDrivers,
        uniqueItems: true,
        description: "Who may drive: values of `driverId`. Unset or empty: anybody who identifies.",
      }),
    ),
    seconds: between(0, 86_400, "Time since the ignition was switched on."),
  }),
  vehicleBatteryLess: Type.Object({ volts: between(0, 100, "V") }),
  sos: none,
  alarm: Type.Object({
    alarms: Type.Unsafe<readonly Alarm[]>({
      type: "array",
      items: { type: "string", enum: [...alarmNames] },
      uniqueItems: true,
      description: "Names of alarms, at least one.",
      documented: { minItems: 1 },
    }),
  }),
  expired: Type.Object({
    days: Type.Optional(between(0, 3650, "Days before the device's `expires`. Unset: 0.")),
  }),
  idling: minutesOnly,
  trip: Type.Object({
    minutes: Type.Optional(between(1, longest, "A trip ends when the vehicle has stood for this time. Unset: 5.")),
  }),
  parkedFor: Type.Object({ minutes: between(1, longest, "For this time.") }),
  drivingFor: Type.Object({
    minutes: between(1, longest, "For this time."),
    restMinutes: Type.Optional(between(1, 1440, "A stop of this time is a rest. Unset: 15.")),
  }),
  mileage: Type.Object({ km: between(0.001, 100_000_000, "km"), repeat }),
  lowBattery: Type.Object({ percent }),
  offline: Type.Object({ minutes: between(1, longest, "For this time.") }),
  rpmOver: Type.Object({ rpm: between(0, 20_000, "1/min") }),
  speedLess: speed,
  notMoving: minutesOnly,
  speedOver: speed,
  vibration: none,
  gpsOff: Type.Object({ minutes: between(1, longest, "For this time.") }),
  powerDisconnected: none,
  gpsNoSignal: Type.Object({ minutes: between(0, longest, "For this time.") }),
  inputOn: inputOnly,
  inputOff: inputOnly,
  inputActiveFor: Type.Object({ input, minutes }),
  inputAccumulated: Type.Object({ input, minutes, repeat }),
  temperatureGreater: temperature,
  temperatureLess: temperature,
  allowedZone: zonesOnly,
  forbiddenZone: zonesOnly,
  controlZone: zonesOnly,
  controlPoint: Type.Object({
    zones,
    minutes: Type.Optional(between(0, longest, "It has arrived when it has been there for this time. Unset: 0.")),
  }),
  route: zonesOnly,
} as const satisfies { readonly [T in AlertType]: TObject };

type Given<P> = Record<string, never> extends P ? P | undefined : P;

/**
 * What each type of rule is told, as a body gives it: what is left out takes its default, and a type that needs nothing
 * may be without.
 */
export type GivenParameters = { readonly [T in AlertType]: Given<Static<(typeof parameterSchemas)[T]>> };

/** A type and its parameters as a body gives them. */
export type GivenTrigger<T extends AlertType = AlertType> = {
  readonly [K in T]: { readonly type: K; readonly parameters: GivenParameters[K] };
}[T];

/** Types of rules. */
export const alertTypes: readonly string[] = Object.keys(parameterSchemas).toSorted();
