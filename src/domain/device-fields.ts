import type { DeviceReplacement, DeviceView } from "../contract/device.ts";
import { settableDeviceFields } from "../contract/device.ts";
import { formatInstant, parseInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Device, DeviceFields, IdentityRules } from "../model/device.ts";
import { fuelTableTags, parseFuelTable } from "../model/fuel-table.ts";
import { protocolIds, protocolsWithSecret } from "../model/protocol-ids.ts";
import { unknownFields } from "./bodies.ts";

/** Limits of a new device (decisions page). */
export const defaultDailyEmailLimit = 50;
export const defaultDailySmsLimit = 10;

/** What a caller set, and what of it was accepted and is probably a mistake. */
export interface ReadFields {
  readonly fields: DeviceFields;
  readonly warnings: readonly string[];
}

/** A device without what the store adds to it. */
export function fieldsOf(device: Device): DeviceFields {
  const { key: _key, accountKey: _account, creation: _creation, modification: _modification, ...rest } = device;
  const { spoken: _spoken, ...fields } = rest;
  return fields;
}

/** A device as the API shows it. */
export function deviceView(device: DeviceFields): DeviceView {
  return {
    id: device.id,
    name: device.name,
    description: device.description,
    min: device.min,
    tags: device.tags,
    expires: device.expires === null ? null : formatInstant(device.expires),
    aliases: [...device.aliases],
    milleageStart: device.odometerStart,
    protocols: [...device.identity.protocols],
    networks: [...device.identity.networks],
    positionDays: device.positionDays,
    timeOffset: device.timeOffset,
    speedUnit: device.speedUnit,
    secretSet: device.identity.secretHash !== null,
  };
}

/** Hashes a secret for the store. */
export type HashSecret = (secret: string) => string;

/** What answers hold beside what can be set: a body that repeats it is no mistake. */
const shown: readonly string[] = ["id", "secretSet"];

/**
 * The fields that a body sets on the device with this id. What the body leaves out takes its default; the e-mail and
 * SMS limits, which it can't name, the days that positions are kept, and the secret stay as they are. `body` has passed
 * its schema; fields that the schema does not know are not used, and warned of.
 */
export function readFields(
  id: string,
  body: DeviceReplacement & { readonly id?: unknown },
  hash: HashSecret,
  kept?: Device,
): ReadFields {
  const identity = identityOf(body, hash, kept);
  const warnings = [
    ...unknownFields(body, settableDeviceFields, shown),
    ...withoutSecret(identity),
    ...wrongTables(body.tags ?? {}),
  ];
  if (body.id !== undefined && body.id !== id) warnings.push("body/id: ignored; POST changeId changes a device's id");
  const aliases = (body.aliases ?? []).filter((alias) => alias !== id);
  if (aliases.length < (body.aliases ?? []).length)
    warnings.push("body/aliases: the device's own id is no alias; left out");
  return {
    fields: {
      id,
      aliases,
      // Blank is unset, as in users and groups, where a name is required.
      name: body.name === undefined || body.name === null || body.name.trim() === "" ? id : body.name,
      description: body.description ?? null,
      min: body.min ?? null,
      tags: body.tags ?? {},
      expires: readExpiry(body.expires),
      dailyEmailLimit: kept?.dailyEmailLimit ?? defaultDailyEmailLimit,
      dailySmsLimit: kept?.dailySmsLimit ?? defaultDailySmsLimit,
      odometerStart: body.milleageStart ?? 0,
      identity,
      timeOffset: body.timeOffset ?? 0,
      speedUnit: body.speedUnit ?? null,
      // Deleting is final: a client that does not know the field does not change it.
      positionDays: body.positionDays === undefined ? (kept?.positionDays ?? null) : body.positionDays,
    },
    warnings,
  };
}

function identityOf(
  { protocols, networks, secret }: DeviceReplacement,
  hash: HashSecret,
  kept?: Device,
): IdentityRules {
  const secretHash = secret === undefined ? (kept?.identity.secretHash ?? null) : secret && hash(secret);
  return { protocols: protocols ?? [], networks: networks ?? [], secretHash };
}

/** Warnings of tags that should tell what raw values of a fuel sensor mean, and do not. */
function wrongTables(tags: Readonly<Record<string, string>>): readonly string[] {
  return fuelTableTags.flatMap((name) => {
    const problem = tags[name] === undefined ? undefined : parseFuelTable(tags[name]);
    return typeof problem === "string" ? [`body/tags/${name}: ${problem}; it is not used`] : [];
  });
}

/** A warning of protocols that can't bring the secret that is asked. */
function withoutSecret({ protocols, secretHash }: IdentityRules): readonly string[] {
  if (secretHash === null) return [];
  const barred = (protocols.length === 0 ? protocolIds : protocols).filter((id) => !protocolsWithSecret.includes(id));
  if (barred.length === 0) return [];
  return [`body/secret: ${barred.join(", ")} carry none, so the device is refused when it speaks one of them`];
}

/** Epoch ms of an expiry; null where it is unset. */
export function readExpiry(text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  const time = parseInstant(text);
  if (time === undefined) throw new ApiError("badRequest", ["body/expires: must be an RFC 3339 date-time"]);
  return time;
}
