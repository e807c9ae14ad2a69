import type { AlertFactsOf, ConditionFacts } from "../model/alert-facts.ts";
import type { AlertType } from "../model/alert-rule.ts";

type KindOf<V> = [V] extends [number]
  ? "number"
  : [V] extends [boolean]
    ? "boolean"
    : [V] extends [string]
      ? "string"
      : "any";

/** Kind of a fact; with `?` it may be absent. */
type FactKind<V> = undefined extends V ? `${KindOf<Exclude<V, undefined>>}?` : KindOf<V>;

const fuelChange = {
  tank: "number",
  from: "number",
  to: "number",
  points: "number?",
  litres: "number?",
  limit: "number",
  minutes: "number",
} as const;

/** Names and kinds of the facts of each type. The type checker compares them with the model's. */
const factKinds: {
  readonly [T in AlertType]: { readonly [F in keyof AlertFactsOf[T]]-?: FactKind<AlertFactsOf[T][F]> };
} = {
  attributeEqual: { attribute: "string", value: "any", limit: "any" },
  attributeGreater: { attribute: "string", value: "number", limit: "number" },
  attributeLess: { attribute: "string", value: "number", limit: "number" },
  fuelDecrease: fuelChange,
  fuelIncrease: fuelChange,
  fuelLess: { tank: "number", value: "number", limit: "number", unit: "string?" },
  driverAuthenticationFailed: { driver: "string?", seconds: "number", ended: "string?" },
  vehicleBatteryLess: { value: "number", limit: "number" },
  sos: {},
  alarm: { alarm: "string", code: "string?" },
  expired: { expires: "number", days: "number" },
  idling: { minutes: "number", limit: "number" },
  trip: { event: "string", minutes: "number?" },
  parkedFor: { minutes: "number", limit: "number" },
  drivingFor: { minutes: "number", limit: "number" },
  mileage: { value: "number", limit: "number" },
  lowBattery: { value: "number?", limit: "number" },
  offline: { minutes: "number", limit: "number", lastHeard: "number" },
  rpmOver: { value: "number", limit: "number" },
  speedLess: { value: "number", limit: "number" },
  notMoving: { minutes: "number", limit: "number" },
  speedOver: { value: "number", limit: "number" },
  vibration: {},
  gpsOff: { minutes: "number", limit: "number", antenna: "boolean" },
  powerDisconnected: { voltage: "number?" },
  gpsNoSignal: { minutes: "number", limit: "number" },
  inputOn: { input: "number" },
  inputOff: { input: "number" },
  inputActiveFor: { input: "number", minutes: "number", limit: "number" },
  inputAccumulated: { input: "number", minutes: "number", limit: "number" },
  temperatureGreater: { probe: "number", value: "number", limit: "number" },
  temperatureLess: { probe: "number", value: "number", limit: "number" },
  allowedZone: { zone: "string" },
  forbiddenZone: { zone: "string" },
  controlZone: { zone: "string", event: "string" },
  controlPoint: { zone: "string", event: "string", minutes: "number" },
  route: { zone: "string" },
};

/** Whether facts, which an older version may have written, are those that the wording of this type needs. */
export function areFactsOf<T extends AlertType>(type: T, facts: object): facts is AlertFactsOf[T] {
  return Object.entries(factKinds[type]).every(([name, kind]) => isOfKind(factOf(facts, name), String(kind)));
}

/** How long an alert lasted that is over, minutes; undefined: it isn't known. */
export function lastedMinutesOf(facts: object): number | undefined {
  const lasted = factOf(facts, "lastedMinutes");
  return typeof lasted === "number" ? lasted : undefined;
}

/** The condition by which an alert ended; undefined: it ended by itself. */
export function conditionOf(facts: object): ConditionFacts | undefined {
  const [condition, operator, wanted] = ["condition", "operator", "wanted"].map((name) => factOf(facts, name));
  if (typeof condition !== "string" || typeof operator !== "string") return undefined;
  const isValue = typeof wanted === "string" || typeof wanted === "number" || typeof wanted === "boolean";
  return { condition, operator, ...(isValue && { wanted }) };
}

function factOf(facts: object, name: string): unknown {
  return Object.hasOwn(facts, name) ? Object.getOwnPropertyDescriptor(facts, name)?.value : undefined;
}

function isOfKind(value: unknown, kind: string): boolean {
  if (value === undefined) return kind.endsWith("?");
  return kind === "any" || typeof value === kind.replace("?", "");
}
