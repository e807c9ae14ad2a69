import Type from "typebox";
import { integer } from "./kinds.ts";

/** What each account but the first may send and hold, unless the operator set it for the account itself. */
export const caps = Type.Object({
  dailyEmails: integer(10_000, {
    env: "WAYBEAM_CAPS_DAILY_EMAILS",
    minimum: 0,
    maximum: 1_000_000_000,
    unit: "e-mails",
    description:
      "Notices by e-mail that all devices of an account may send in a day of the account: mail providers bar a service by its worst sender. The first account, which is the operator's own, has no cap unless `waybeam account set` gives it one.",
  }),
  dailySms: integer(500, {
    env: "WAYBEAM_CAPS_DAILY_SMS",
    minimum: 0,
    maximum: 1_000_000_000,
    unit: "SMS",
    description:
      "SMS that all devices of an account may send in a day, notices and commands together: the operator pays for them. Not of the first account.",
  }),
  deviceDailyEmails: integer(500, {
    env: "WAYBEAM_CAPS_DEVICE_DAILY_EMAILS",
    minimum: 0,
    maximum: 1_000_000,
    unit: "e-mails",
    description:
      "The highest `dailyEmailLimit` that a device can be given, so that one device can't use up all of its account's day. Not of the first account.",
  }),
  deviceDailySms: integer(100, {
    env: "WAYBEAM_CAPS_DEVICE_DAILY_SMS",
    minimum: 0,
    maximum: 1_000_000,
    unit: "SMS",
    description: "The highest `dailySmsLimit` that a device can be given. Not of the first account.",
  }),
  identifiersPerLicense: integer(4, {
    env: "WAYBEAM_CAPS_IDENTIFIERS_PER_LICENSE",
    minimum: 1,
    maximum: 1000,
    unit: "identifiers",
    description:
      "Identifiers, that is ids and aliases of devices, expired ones included, that an account may hold for each of its licences (20 at least): an identifier that one account holds can't be another's, so nobody may hoard them.",
  }),
});
