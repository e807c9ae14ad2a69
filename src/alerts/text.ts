import type { AccountWording, Alert } from "../model/alert.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import { toldText } from "../wording/index.ts";

/**
 * Text of an alert as the account has it: the rule's own with its placeholders filled in, else the service's. That
 * something is over is always told in the service's words: the rule's say that it is so.
 */
export function alertTextOf(
  alert: Omit<Alert, "text">,
  own: string | null,
  device: WatchedDevice,
  mileage: number,
  wording: AccountWording,
): string {
  const template = alert.phase === "raised" ? own : null;
  const { id, name } = device;
  return toldText({ alert, device: { id, name }, template, mileage }, { ...wording, units: "metric" });
}
