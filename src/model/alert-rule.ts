import type { Alarm } from "./alarms.ts";
import type { CommandFormat } from "./command.ts";
import type { Language } from "./language.ts";
import type { WebhookFormat } from "./webhook-format.ts";

/** Tank, temperature probe. */
type OneOrTwo = 1 | 2;
/** Digital input that can be watched. */
export type WatchedInput = 1 | 2 | 3 | 4;
/** What an attribute can be compared with. */
export type Comparable = string | number | boolean;

interface FuelChangeParameters {
  readonly tank: OneOrTwo;
  readonly points?: number;
  readonly litres?: number;
  readonly minutes: number;
}

/**
 * What each type of rule is told beside the devices it watches. Units are the API's: km, km/h, %, V, °C, minutes.
 * `attribute` is the name of a reading, of `speed`, `course`, `altitude`, `milleage`, or of an attribute of the
 * location. `zones` are ids of geofences.
 */
export interface AlertParameters {
  readonly attributeEqual: { readonly attribute: string; readonly value: Comparable };
  readonly attributeGreater: { readonly attribute: string; readonly value: number };
  readonly attributeLess: { readonly attribute: string; readonly value: number };
  /**
   * The level fell by so many percentage points or litres (one of them is there) within so many minutes, its noise
   * filtered away.
   */
  readonly fuelDecrease: FuelChangeParameters;
  readonly fuelIncrease: FuelChangeParameters;
  readonly fuelLess: { readonly tank: OneOrTwo; readonly percent?: number; readonly litres?: number };
  /**
   * The ignition has been on for so long and none of these drivers (any driver, where the list is empty) has
   * identified.
   */
  readonly driverAuthenticationFailed: { readonly drivers: readonly string[]; readonly seconds: number };
  readonly vehicleBatteryLess: { readonly volts: number };
  readonly sos: Readonly<Record<string, never>>;
  /** What the tracker itself warns of: any of these. */
  readonly alarm: { readonly alarms: readonly Alarm[] };
  /** The device's `expires` comes within so many days; 0: it has come. */
  readonly expired: { readonly days: number };
  readonly idling: { readonly minutes: number };
  /** Tells both: a trip began, and it ended, when the device has stood for so long. */
  readonly trip: { readonly minutes: number };
  /** The ignition is off and the device has not moved. */
  readonly parkedFor: { readonly minutes: number };
  /** Driven for so long without a rest of so long. */
  readonly drivingFor: { readonly minutes: number; readonly restMinutes: number };
  /** The mileage reaches this; with `repeat`, each multiple of it. */
  readonly mileage: { readonly km: number; readonly repeat: boolean };
  /** The tracker's own battery: its alarm, or a level under this. */
  readonly lowBattery: { readonly percent: number };
  readonly offline: { readonly minutes: number };
  readonly rpmOver: { readonly rpm: number };
  readonly speedLess: { readonly kmh: number };
  readonly notMoving: { readonly minutes: number };
  readonly speedOver: { readonly kmh: number };
  readonly vibration: Readonly<Record<string, never>>;
  /** For so long the tracker has reported without a position of its own, or says that its antenna is cut. */
  readonly gpsOff: { readonly minutes: number };
  readonly powerDisconnected: Readonly<Record<string, never>>;
  /** For so long the tracker's positions have been marked as not valid. */
  readonly gpsNoSignal: { readonly minutes: number };
  readonly inputOn: { readonly input: WatchedInput };
  readonly inputOff: { readonly input: WatchedInput };
  readonly inputActiveFor: { readonly input: WatchedInput; readonly minutes: number };
  /** Added up, the input was active for so long; with `repeat`, each multiple of it. */
  readonly inputAccumulated: { readonly input: WatchedInput; readonly minutes: number; readonly repeat: boolean };
  readonly temperatureGreater: { readonly probe: OneOrTwo; readonly celsius: number };
  readonly temperatureLess: { readonly probe: OneOrTwo; readonly celsius: number };
  /** The device must be in one of them; it left them all. */
  readonly allowedZone: { readonly zones: readonly string[] };
  readonly forbiddenZone: { readonly zones: readonly string[] };
  /** Tells both: entered and left. */
  readonly controlZone: { readonly zones: readonly string[] };
  /** Tells both: arrived (after so many minutes there) and left again. */
  readonly controlPoint: { readonly zones: readonly string[]; readonly minutes: number };
  /** It strayed from all of these routes. */
  readonly route: { readonly zones: readonly string[] };
}

/** A type of rule. */
export type AlertType = keyof AlertParameters;

/** A type and its parameters, which belong together. */
export type AlertTrigger = {
  readonly [T in AlertType]: { readonly type: T; readonly parameters: AlertParameters[T] };
}[AlertType];

/** Days of the week, Monday first (ISO 8601). */
export const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export type Weekday = (typeof weekdays)[number];

/**
 * When a rule is in force: on these days from one local time to another; `to` before or at `from` goes over midnight
 * and belongs to the day it began on.
 */
export interface AlertSchedule {
  readonly days: readonly Weekday[];
  /** `HH:MM`, 24 h; both `00:00`: the whole day. */
  readonly from: string;
  readonly to: string;
  /** IANA name; null: the account's. */
  readonly timeZone: string | null;
}

/** What must be true as well for a rule to hold. */
export type AlertCondition =
  | { readonly attribute: string; readonly operator: "equal" | "greater" | "less"; readonly value: Comparable }
  | { readonly zone: string; readonly operator: "inside" | "outside" };

/** What keeps a rule from flapping. */
export interface AlertHysteresis {
  /** It must hold for so long, by event time, before it fires, s. */
  readonly holdSeconds: number;
  /**
   * For types with a threshold: the value that must be passed back before it can fire again; null: the threshold
   * itself.
   */
  readonly rearmAt: number | null;
  /** Least time between two firings, s. */
  readonly cooldownSeconds: number;
}

/** Metric: km, km/h, °C. Imperial: mi, mph, °F. */
export type UnitSystem = "metric" | "imperial";

/** Who is told, and how. `null`: as the account's. */
export interface Recipient {
  /** E-mail address or phone number. */
  readonly to: string;
  readonly language: Language | null;
  readonly timeZone: string | null;
  readonly units: UnitSystem;
}

/** A URL that is told. */
export interface WebhookTarget {
  readonly url: string;
  /**
   * Key of the signature: 16 characters at least; never shown again. Empty: it is not signed. Of Telegram the bot's
   * token.
   */
  readonly secret: string;
  /** Absent: the service's own. */
  readonly format?: Exclude<WebhookFormat, "waybeam"> | "telegram";
  /** Of the format `template`. */
  readonly template?: string;
  /** Of the format `telegram`, whose URL is `telegram:` and the chat. How it is worded. */
  readonly reader?: Omit<Recipient, "to">;
}

/** Ways by which people and programs are told. */
export interface AlertChannels {
  readonly email: readonly Recipient[];
  readonly sms: readonly Recipient[];
  readonly webhook: readonly WebhookTarget[];
}

/** A command that is sent to the device when the rule fires. */
export interface AlertCommand {
  readonly command: string;
  readonly format: CommandFormat;
  readonly sms: boolean;
  readonly encode: boolean;
  readonly delaySeconds: number;
}

/** What of a rule a caller sets. */
export type AlertRuleFields = AlertTrigger & {
  readonly name: string;
  readonly enabled: boolean;
  /** Ids of devices and of groups that it watches; one that does not exist (any longer) is kept and watches nothing. */
  readonly devices: readonly string[];
  readonly groups: readonly string[];
  readonly schedule: AlertSchedule | null;
  /** All of them must be true. */
  readonly conditions: readonly AlertCondition[];
  readonly hysteresis: AlertHysteresis;
  readonly channels: AlertChannels;
  readonly commands: readonly AlertCommand[];
  readonly critical: boolean;
  /** Own text with placeholders such as `{{DeviceName}}`; null: the service's. */
  readonly text: string | null;
  /** People are told also when it is over; `onlyWhenOver`: and only then. */
  readonly notifyWhenOver: boolean;
  readonly notifyOnlyWhenOver: boolean;
};

/** A rule of an account. */
export type AlertRule = AlertRuleFields & {
  readonly key: number;
  /** Public identifier (UUID). */
  readonly id: string;
  readonly accountKey: number;
  /** Grows with each change. */
  readonly revision: number;
  /** Who changed it last: the rule's commands are sent in this user's name. */
  readonly userKey: number;
  readonly creation: number;
  readonly modification: number;
};

/**
 * Whether a rule can find something where some zones are gone: one of those that it watches is there, and all that its
 * conditions name.
 */
export function worksWithout(
  { parameters, conditions }: Pick<AlertRuleFields, "parameters" | "conditions">,
  isGone: (zone: string) => boolean,
): boolean {
  if (conditions.some((condition) => "zone" in condition && isGone(condition.zone))) return false;
  return !("zones" in parameters) || parameters.zones.length === 0 || !parameters.zones.every(isGone);
}

/** Ids of the zones that a rule names, in its parameters and its conditions. */
export function zonesOf({
  parameters,
  conditions,
}: Pick<AlertRuleFields, "parameters" | "conditions">): readonly string[] {
  const own = "zones" in parameters ? parameters.zones : [];
  return [...own, ...conditions.flatMap((condition) => ("zone" in condition ? [condition.zone] : []))];
}
