import type { GivenParameters, GivenTrigger } from "../contract/alert-parameters.ts";
import type { AlertParameters, AlertType } from "../model/alert-rule.ts";

type Trigger<T extends AlertType> = {
  readonly [K in T]: { readonly type: K; readonly parameters: AlertParameters[K] };
}[T];

/** An amount where it is given. */
function amount<K extends string>(name: K, value: number | undefined): { readonly [N in K]?: number } {
  const given: { [N in K]?: number } = {};
  if (value !== undefined) Object.assign(given, { [name]: value });
  return given;
}

/** What is given of each type, with what is left out at its default; fields that a type does not have are not kept. */
const readers: { readonly [T in AlertType]: (given: GivenParameters[T]) => AlertParameters[T] } = {
  attributeEqual: ({ attribute, value }) => ({ attribute, value }),
  attributeGreater: ({ attribute, value }) => ({ attribute, value }),
  attributeLess: ({ attribute, value }) => ({ attribute, value }),
  fuelDecrease: ({ tank = 1, points, litres, minutes }) => ({
    tank,
    ...amount("points", points),
    ...amount("litres", litres),
    minutes,
  }),
  fuelIncrease: ({ tank = 1, points, litres, minutes }) => ({
    tank,
    ...amount("points", points),
    ...amount("litres", litres),
    minutes,
  }),
  fuelLess: (given) => ({
    tank: given?.tank ?? 1,
    ...amount("percent", given?.percent),
    ...amount("litres", given?.litres),
  }),
  driverAuthenticationFailed: ({ drivers = [], seconds }) => ({ drivers, seconds }),
  vehicleBatteryLess: ({ volts }) => ({ volts }),
  sos: () => ({}),
  alarm: ({ alarms }) => ({ alarms }),
  expired: (given) => ({ days: given?.days ?? 0 }),
  idling: ({ minutes }) => ({ minutes }),
  trip: (given) => ({ minutes: given?.minutes ?? 5 }),
  parkedFor: ({ minutes }) => ({ minutes }),
  drivingFor: ({ minutes, restMinutes = 15 }) => ({ minutes, restMinutes }),
  mileage: ({ km, repeat = false }) => ({ km, repeat }),
  lowBattery: ({ percent }) => ({ percent }),
  offline: ({ minutes }) => ({ minutes }),
  rpmOver: ({ rpm }) => ({ rpm }),
  speedLess: ({ kmh }) => ({ kmh }),
  notMoving: ({ minutes }) => ({ minutes }),
  speedOver: ({ kmh }) => ({ kmh }),
  vibration: () => ({}),
  gpsOff: ({ minutes }) => ({ minutes }),
  powerDisconnected: () => ({}),
  gpsNoSignal: ({ minutes }) => ({ minutes }),
  inputOn: ({ input }) => ({ input }),
  inputOff: ({ input }) => ({ input }),
  inputActiveFor: ({ input, minutes }) => ({ input, minutes }),
  inputAccumulated: ({ input, minutes, repeat = false }) => ({ input, minutes, repeat }),
  temperatureGreater: ({ probe = 1, celsius }) => ({ probe, celsius }),
  temperatureLess: ({ probe = 1, celsius }) => ({ probe, celsius }),
  allowedZone: ({ zones }) => ({ zones }),
  forbiddenZone: ({ zones }) => ({ zones }),
  controlZone: ({ zones }) => ({ zones }),
  controlPoint: ({ zones, minutes = 0 }) => ({ zones, minutes }),
  route: ({ zones }) => ({ zones }),
};

/** The type and the parameters of a body that has passed its schema. */
export function readTrigger<T extends AlertType>(body: GivenTrigger<T>): Trigger<T> {
  const { type } = body;
  const read = readers[type];
  return { type, parameters: read(body.parameters) };
}
