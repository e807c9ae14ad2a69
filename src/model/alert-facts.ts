import type { AlertType, Comparable, WatchedInput } from "./alert-rule.ts";

/** What was measured and the limit of the rule, both in the API's unit of that reading. */
interface Measured {
  readonly value: number;
  readonly limit: number;
}

interface OfAttribute {
  /** Name of the reading or attribute. */
  readonly attribute: string;
}

interface OfTank {
  readonly tank: 1 | 2;
}

/** A change of a fuel level, its noise filtered away. */
interface FuelChange extends OfTank {
  /** Level before and after, %; l where there are `litres`. */
  readonly from: number;
  readonly to: number;
  /** How much it fell or rose, percentage points or litres, positive; and the limit of it. */
  readonly points?: number;
  readonly litres?: number;
  readonly limit: number;
  /** Within how many minutes. */
  readonly minutes: number;
}

/** For how long something has been so, and the limit of it, minutes. */
interface Lasted {
  readonly minutes: number;
  readonly limit: number;
}

interface OfZone {
  /** Name of the zone, or names with commas between them. */
  readonly zone: string;
}

/** `entered`: it came (for a control point: and stayed) · `left`: it went. */
export type ZoneEvent = "entered" | "left";

type Nothing = Readonly<Record<never, never>>;

/**
 * The evidence that an alert of each type carries, by type: numbers in the API's units, moments in epoch ms. A fact
 * that is optional is absent where it isn't known. An alert that something is over has the facts of its raising,
 * `value` as it was when it was over, and `OverFacts`.
 */
export interface AlertFactsOf {
  readonly attributeEqual: OfAttribute & { readonly value: Comparable; readonly limit: Comparable };
  readonly attributeGreater: OfAttribute & Measured;
  readonly attributeLess: OfAttribute & Measured;
  readonly fuelDecrease: FuelChange;
  readonly fuelIncrease: FuelChange;
  /** `unit`: `litres`; absent: %. */
  readonly fuelLess: OfTank & Measured & { readonly unit?: string };
  /**
   * The driver who identified and is none of the allowed; absent: nobody identified. `ended`: `ignitionOff`, where it
   * is over because of that.
   */
  readonly driverAuthenticationFailed: { readonly driver?: string; readonly seconds: number; readonly ended?: string };
  readonly vehicleBatteryLess: Measured;
  readonly sos: Nothing;
  /** Name of the alarm in the catalogue; `code`: the tracker's own, of an alarm that the catalogue does not have. */
  readonly alarm: { readonly alarm: string; readonly code?: string };
  /** When it expires or expired; whole days until then, 0: it has. */
  readonly expired: { readonly expires: number; readonly days: number };
  readonly idling: Lasted;
  /** `began` · `ended`, with how long it was driven. */
  readonly trip: { readonly event: string; readonly minutes?: number };
  readonly parkedFor: Lasted;
  readonly drivingFor: Lasted;
  readonly mileage: Measured;
  /** `value` is absent where only the tracker's alarm told it. */
  readonly lowBattery: { readonly value?: number; readonly limit: number };
  /** `lastHeard`: when it was heard of for the last time. */
  readonly offline: Lasted & { readonly lastHeard: number };
  readonly rpmOver: Measured;
  readonly speedLess: Measured;
  readonly notMoving: Lasted;
  readonly speedOver: Measured;
  readonly vibration: Nothing;
  /** `antenna`: the tracker says that its antenna is cut. */
  readonly gpsOff: Lasted & { readonly antenna: boolean };
  /** Voltage of the vehicle as last reported, V. */
  readonly powerDisconnected: { readonly voltage?: number };
  readonly gpsNoSignal: Lasted;
  readonly inputOn: { readonly input: WatchedInput };
  readonly inputOff: { readonly input: WatchedInput };
  readonly inputActiveFor: { readonly input: WatchedInput } & Lasted;
  readonly inputAccumulated: { readonly input: WatchedInput } & Lasted;
  readonly temperatureGreater: { readonly probe: 1 | 2 } & Measured;
  readonly temperatureLess: { readonly probe: 1 | 2 } & Measured;
  /** The zones that it should be in. */
  readonly allowedZone: OfZone;
  /** The zone that it is in. */
  readonly forbiddenZone: OfZone;
  readonly controlZone: OfZone & { readonly event: ZoneEvent };
  /** `minutes`: how long it has been there, or was there when it left. */
  readonly controlPoint: OfZone & { readonly event: ZoneEvent; readonly minutes: number };
  /** The routes that it should be on. */
  readonly route: OfZone;
}

/** What an alert that something is over carries besides. */
export interface OverFacts {
  /** How long it lasted since it was raised, minutes. */
  readonly lastedMinutes: number;
}

/** What it carries where it is over only because a condition of the rule is true no longer. */
export interface ConditionFacts {
  /** Name of the attribute or the zone. */
  readonly condition: string;
  readonly operator: string;
  /** What the attribute was compared with; absent: it is a zone. */
  readonly wanted?: Comparable;
}

/** Facts of some type. */
export type AnyAlertFacts = AlertFactsOf[AlertType];
