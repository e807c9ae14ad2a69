import Type, { type Static, type TObject } from "typebox";
import type { AlertType, WatchedInput } from "../model/alert-rule.ts";

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
const repeat = Type.Optional(Type.Boolean({ description: "At each multiple of it. Unset: false." }));
const minutes = Type.Number({ description: "For so long." });
const attribute = Type.String({
  maxLength: 128,
  description: "Name of a reading, of an attribute, or `speed`, `course`, `altitude`, `milleage`.",
  examples: ["fuel"],
});
const zones = Type.Unsafe<readonly string[]>({
  type: "array",
  items: { type: "string", maxLength: 64 },
  maxItems: mostZones,
  uniqueItems: true,
  description: "Ids of geofences, at least one.",
});
const none = Type.Object({});
const threshold = Type.Object({ attribute, value: Type.Number() });
const fuelChange = Type.Object({
  tank,
  points: Type.Number({ description: "Percentage points." }),
  minutes: Type.Number({ description: "Within so many minutes." }),
});
const minutesOnly = Type.Object({ minutes });
const speed = Type.Object({ kmh: Type.Number({ description: "km/h" }) });
const percent = Type.Number({ description: "%" });
const inputOnly = Type.Object({ input });
const temperature = Type.Object({ probe, celsius: Type.Number({ description: "°C" }) });
const zonesOnly = Type.Object({ zones });

/** What each type of rule is told, as a body gives it. */
export const parameterSchemas = {
  attributeEqual: Type.Object({
    attribute,
    value: Type.Unsafe<string | number | boolean>({ type: ["string", "number", "boolean"], maxLength: 1024 }),
  }),
  attributeGreater: threshold,
  attributeLess: threshold,
  fuelDecrease: fuelChange,
  fuelIncrease: fuelChange,
  fuelLess: Type.Object({ tank, percent }),
  driverAuthenticationFailed: Type.Object({
    drivers: Type.Optional(
      Type.Unsafe<readonly string[]>({
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 64 },
        maxItems: mostDrivers,
        uniqueItems: true,
        description: "Who may drive, as `driverId` has it. Unset or empty: whoever identifies.",
      }),
    ),
    seconds: Type.Number({ description: "After the ignition was switched on." }),
  }),
  vehicleBatteryLess: Type.Object({ volts: Type.Number({ description: "V" }) }),
  sos: none,
  expired: Type.Object({
    days: Type.Optional(Type.Number({ description: "So many days before the device's `expires`. Unset: 0." })),
  }),
  idling: minutesOnly,
  mileage: Type.Object({ km: Type.Number({ description: "km" }), repeat }),
  lowBattery: Type.Object({ percent }),
  offline: minutesOnly,
  rpmOver: Type.Object({ rpm: Type.Number({ description: "1/min" }) }),
  speedLess: speed,
  notMoving: minutesOnly,
  speedOver: speed,
  vibration: none,
  gpsOff: minutesOnly,
  powerDisconnected: none,
  gpsNoSignal: minutesOnly,
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
    minutes: Type.Optional(Type.Number({ description: "It has arrived when it was there for so long. Unset: 0." })),
  }),
  route: zonesOnly,
} as const satisfies { readonly [T in AlertType]: TObject };

type Given<P> = Record<string, never> extends P ? P | undefined : P;

/** What each type of rule is told, as a body gives it: what is left out takes its default, and a type that needs nothing may be without. */
export type GivenParameters = { readonly [T in AlertType]: Given<Static<(typeof parameterSchemas)[T]>> };

/** A type and its parameters as a body gives them. */
export type GivenTrigger<T extends AlertType = AlertType> = {
  readonly [K in T]: { readonly type: K; readonly parameters: GivenParameters[K] };
}[T];

/** Types of rules. */
export const alertTypes: readonly string[] = Object.keys(parameterSchemas);
