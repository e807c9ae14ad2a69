import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Device } from "../model/device.ts";
import type { Quarantine } from "../ports/quarantine.ts";
import type { DeviceRefusal, MostIdentifiers } from "../ports/store.ts";
import type { DeviceScope, Visibility } from "./visibility.ts";

/** Identifiers that an account may hold, however few licences it has: those of a device with all its aliases. */
export const leastIdentifiers = 20;

/**
 * An IMEI, or an IMEISV of 16 digits, also with zeros before it. The check digit is not looked at: cheap trackers have
 * IMEIs with a wrong one.
 */
const imeiForm = /^0*\d{15,16}$/;

/** Who gives a device its aliases. */
export interface AliasGiver {
  readonly scope: DeviceScope;
  /** The account runs the service: its admins see all trackers that knock, and may give any of them to a device. */
  readonly runsService: boolean;
}

/**
 * Checks the aliases that a device does not have yet. An alias is an identifier as an id is, whatever the device's own
 * id looks like: whoever gives it must be allowed to register it. It must not be how somebody else's tracker is known:
 * an IMEI, or what an unregistered tracker reports now.
 * @throws ApiError `permissionDenied`, `aliasNotAllowed`, `deviceExists`
 */
export function checkAliases(
  aliases: readonly string[],
  kept: Pick<Device, "aliases"> | undefined,
  { scope, runsService }: AliasGiver,
  quarantine: Pick<Quarantine, "unknown">,
): void {
  const added = aliases.filter((alias) => kept?.aliases.includes(alias) !== true);
  if (added.length === 0) return;
  if (!scope.all && added.some((alias) => !scope.ids.has(alias)))
    throw new ApiError("permissionDenied", ["body/aliases: only identifiers that the user may register"]);
  if (runsService) return;
  const imei = added.find((alias) => imeiForm.test(alias));
  if (imei !== undefined)
    throw new ApiError("aliasNotAllowed", [
      `body/aliases: ${imei} may be an IMEI; a tracker that reports its IMEI is registered with that as its id`,
    ]);
  const knocking = new Set(quarantine.unknown().flatMap(({ ids }) => ids));
  if (added.some((alias) => knocking.has(alias))) throw identifierTaken();
}

/** What an account may hold of identifiers. */
export function mostIdentifiers({
  identifiersPerLicense,
}: {
  readonly identifiersPerLicense: number;
}): MostIdentifiers {
  return { perLicense: identifiersPerLicense, least: leastIdentifiers };
}

/** @throws ApiError `permissionDenied` unless the user would see a device with this id */
export async function checkMayRegister(user: User, id: string, visibility: Visibility): Promise<void> {
  const { all, ids } = await visibility.scope(user);
  if (!all && !ids.has(id)) throw new ApiError("permissionDenied");
}

/** Why the store did not make or change a device. */
export function refused(refusal: DeviceRefusal): ApiError {
  if (refusal === "exists") return identifierTaken();
  if (refusal === "noLicense") return new ApiError("noLicense");
  return new ApiError("identifierLimit", [
    "ids and aliases of all devices, expired ones too, count; GET /api/account says how many there may be",
  ]);
}

/**
 * One text, whether an identifier is a device's of one's own account, of another one, or reported by an unregistered
 * tracker: it tells nobody which.
 */
export function identifierTaken(): ApiError {
  return new ApiError("deviceExists", [
    "body: the id or an alias is a registered device's already, or a tracker's that is not registered; such a tracker is registered with what it reports as its id",
  ]);
}
