import { type Device, noIdentityRules } from "../../src/model/device.ts";

/** A registered device with usual fields, but for those given. */
export function device(fields: Pick<Device, "key" | "id"> & Partial<Device>): Device {
  return {
    accountKey: 1,
    aliases: [],
    name: fields.id,
    description: null,
    min: null,
    tags: {},
    expires: null,
    dailyEmailLimit: 50,
    dailySmsLimit: 10,
    odometerStart: 0,
    identity: noIdentityRules,
    positionDays: null,
    timeOffset: 0,
    speedUnit: null,
    spoken: [],
    creation: 0,
    modification: 0,
    ...fields,
  };
}
