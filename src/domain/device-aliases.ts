import { ApiError } from "../errors/catalogue.ts";
import type { Device } from "../model/device.ts";
import type { Quarantine } from "../ports/quarantine.ts";
import type { DeviceScope } from "./visibility.ts";

/** An alias of fewer digits says too little of the identifier that it ends. */
const fewestDigits = 8;
/** A full IMEI: 15 digits, also with zeros before them as some protocols send it; an IMEISV has 16. */
const imeiForm = /^0{0,2}\d{15,16}$/;

/**
 * Whether an alias is another form of the identifier itself, as trackers shorten it: its last digits, an IMEI without its check digit, or zeros before it.
 * Who holds the identifier holds these.
 */
export function derivesFrom(id: string, alias: string): boolean {
  if (!/^\d+$/.test(id) || !/^\d+$/.test(alias)) return false;
  if (alias.length > id.length) return alias.replace(/^0+/, "") === id.replace(/^0+/, "");
  if (alias.length < fewestDigits) return false;
  return id.endsWith(alias) || (id.length === 15 && alias === id.slice(0, 14));
}

/** Whether a text is an IMEI, by its length and its check digit (3GPP TS 23.003, annex B). An IMEISV has none: 16 digits are taken for one. */
export function isImei(text: string): boolean {
  if (!imeiForm.test(text)) return false;
  const digits = text.replace(/^0+/, "");
  if (digits.length === 16) return true;
  if (digits.length > 16 || digits.length < 14) return false;
  const sum = [...digits.padStart(15, "0")].reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Who gives a device its aliases. */
export interface AliasGiver {
  readonly scope: DeviceScope;
  /** The account runs the service: its admins see all trackers that knock, and may give any of them to a device. */
  readonly runsService: boolean;
}

/**
 * Checks the aliases that a device does not have yet. Another form of its own id is free. Any other one takes an identifier, as registering it would: it asks for the
 * same right, and it must not be how somebody's tracker is known: an IMEI, or what an unregistered tracker reports now.
 * @throws ApiError `permissionDenied`, `aliasNotAllowed`, `deviceExists`
 */
export function checkAliases(
  id: string,
  aliases: readonly string[],
  kept: Pick<Device, "aliases"> | undefined,
  { scope, runsService }: AliasGiver,
  quarantine: Pick<Quarantine, "unknown">,
): void {
  const added = aliases.filter((alias) => kept?.aliases.includes(alias) !== true && !derivesFrom(id, alias));
  if (added.length === 0) return;
  if (!scope.all && added.some((alias) => !scope.ids.has(alias)))
    throw new ApiError("permissionDenied", ["body/aliases: only identifiers that the user may register"]);
  if (runsService) return;
  const imeis = added.filter(isImei);
  if (imeis.length > 0)
    throw new ApiError("aliasNotAllowed", [
      `body/aliases: ${imeis[0]} is an IMEI; a tracker that reports its IMEI is registered with that as its id`,
    ]);
  const knocking = new Set(quarantine.unknown().flatMap(({ ids }) => ids));
  if (added.some((alias) => knocking.has(alias))) throw identifierTaken();
}

/** One text, whether an identifier is a device's of one's own account, of another one, or reported by an unregistered tracker: it tells nobody which. */
export function identifierTaken(): ApiError {
  return new ApiError("deviceExists", [
    "body: the id or an alias is a registered device's already, or a tracker's that is not registered",
  ]);
}
