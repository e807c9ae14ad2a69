import {
  type Device,
  type DeviceFields,
  kmhPer,
  noIdentityRules,
  type SpeedUnit,
  type SpokenWay,
} from "../../model/device.ts";
import { storedDays } from "../../model/position-days.ts";
import type { DeviceRow } from "../schema.ts";
import { stringList, stringMap, written } from "./json-columns.ts";

/** The ways of a device that has not spoken. */
export const noWays: readonly SpokenWay[] = Object.freeze([]);

/** The device that a row tells. */
export function deviceOf(row: DeviceRow): Device {
  return {
    key: row.key,
    accountKey: row.account,
    id: row.id,
    aliases: stringList(row.aliases),
    name: row.name,
    description: row.description,
    min: row.min,
    tags: stringMap(row.tags),
    expires: row.expires,
    dailyEmailLimit: row.daily_email_limit,
    dailySmsLimit: row.daily_sms_limit,
    odometerStart: row.odometer_start,
    identity:
      row.protocols === "[]" && row.networks === "[]" && row.secret_hash === null
        ? noIdentityRules
        : {
            protocols: stringList(row.protocols),
            networks: stringList(row.networks),
            secretHash: row.secret_hash,
          },
    positionDays: storedDays(row.position_days),
    timeOffset: row.time_offset,
    speedUnit: row.speed_unit !== null && isSpeedUnit(row.speed_unit) ? row.speed_unit : null,
    spoken: row.spoken === "[]" ? noWays : written<readonly SpokenWay[]>(row.spoken),
    creation: row.creation,
    modification: row.modification,
  };
}

function isSpeedUnit(text: string): text is SpeedUnit {
  return Object.hasOwn(kmhPer, text);
}

/** The columns that a device's fields become. */
export function columnsOf(
  fields: DeviceFields,
): Omit<DeviceRow, "key" | "account" | "spoken" | "creation" | "modification"> {
  return {
    id: fields.id,
    aliases: JSON.stringify(fields.aliases),
    name: fields.name,
    description: fields.description,
    min: fields.min,
    tags: JSON.stringify(fields.tags),
    expires: fields.expires,
    daily_email_limit: fields.dailyEmailLimit,
    daily_sms_limit: fields.dailySmsLimit,
    odometer_start: fields.odometerStart,
    protocols: JSON.stringify(fields.identity.protocols),
    networks: JSON.stringify(fields.identity.networks),
    secret_hash: fields.identity.secretHash,
    position_days: fields.positionDays,
    time_offset: fields.timeOffset,
    speed_unit: fields.speedUnit,
  };
}
