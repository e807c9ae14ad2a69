import type { AlertFactsOf } from "../../model/alert-facts.ts";
import type { AlertParameters, AlertType } from "../../model/alert-rule.ts";
import type { Judge, JudgeSetup, RuleType } from "../judge.ts";
import { alarm } from "./alarm.ts";
import { allowedZone } from "./allowed-zone.ts";
import { attributeEqual } from "./attribute-equal.ts";
import { attributeGreater } from "./attribute-greater.ts";
import { attributeLess } from "./attribute-less.ts";
import { controlPoint } from "./control-point.ts";
import { controlZone } from "./control-zone.ts";
import { driverAuthenticationFailed } from "./driver-authentication-failed.ts";
import { drivingFor } from "./driving-for.ts";
import { expired } from "./expired.ts";
import { forbiddenZone } from "./forbidden-zone.ts";
import { fuelDecrease } from "./fuel-decrease.ts";
import { fuelIncrease } from "./fuel-increase.ts";
import { fuelLess } from "./fuel-less.ts";
import { gpsNoSignal } from "./gps-no-signal.ts";
import { gpsOff } from "./gps-off.ts";
import { idling } from "./idling.ts";
import { inputAccumulated } from "./input-accumulated.ts";
import { inputActiveFor } from "./input-active-for.ts";
import { inputOff } from "./input-off.ts";
import { inputOn } from "./input-on.ts";
import { lowBattery } from "./low-battery.ts";
import { mileage } from "./mileage.ts";
import { notMoving } from "./not-moving.ts";
import { offline } from "./offline.ts";
import { parkedFor } from "./parked-for.ts";
import { powerDisconnected } from "./power-disconnected.ts";
import { route } from "./route.ts";
import { rpmOver } from "./rpm-over.ts";
import { sos } from "./sos.ts";
import { speedLess } from "./speed-less.ts";
import { speedOver } from "./speed-over.ts";
import { temperatureGreater } from "./temperature-greater.ts";
import { temperatureLess } from "./temperature-less.ts";
import { trip } from "./trip.ts";
import { vehicleBatteryLess } from "./vehicle-battery-less.ts";
import { vibration } from "./vibration.ts";

/** Every type of rule. */
export const ruleTypes: { readonly [T in AlertType]: RuleType<T> } = {
  attributeEqual,
  attributeGreater,
  attributeLess,
  fuelDecrease,
  fuelIncrease,
  fuelLess,
  driverAuthenticationFailed,
  vehicleBatteryLess,
  sos,
  alarm,
  expired,
  idling,
  trip,
  parkedFor,
  drivingFor,
  mileage,
  lowBattery,
  offline,
  rpmOver,
  speedLess,
  notMoving,
  speedOver,
  vibration,
  gpsOff,
  powerDisconnected,
  gpsNoSignal,
  inputOn,
  inputOff,
  inputActiveFor,
  inputAccumulated,
  temperatureGreater,
  temperatureLess,
  allowedZone,
  forbiddenZone,
  controlZone,
  controlPoint,
  route,
};

/** What is wrong with a type's parameters, as sentences. */
export function problemsOf<T extends AlertType>(type: T, parameters: AlertParameters[T]): readonly string[] {
  return ruleTypes[type].check(parameters);
}

/** What a type needs in readings, as a sentence; undefined: what its parameters say. */
export function needsOf<T extends AlertType>(type: T, parameters: AlertParameters[T]): string | undefined {
  return ruleTypes[type].needs?.(parameters);
}

/** The limit of a type that has one, and the side on which it is passed. */
export function thresholdOf<T extends AlertType>(
  type: T,
  parameters: AlertParameters[T],
): { readonly limit: number; readonly side: "over" | "under" } | undefined {
  return ruleTypes[type].threshold?.(parameters);
}

/** The judge of a rule. */
export function judgeOf<T extends AlertType>(
  type: T,
  parameters: AlertParameters[T],
  setup: JudgeSetup,
): Judge<AlertFactsOf[T]> {
  return ruleTypes[type].judge(parameters, setup);
}
