import Type from "typebox";
import { integer } from "./kinds.ts";

const most = 1_000_000_000;

/** What an account may have, unless the operator sets other figures for it. */
export const quotas = Type.Object({
  users: integer(1000, {
    env: "WAYBEAM_QUOTAS_USERS",
    minimum: 1,
    maximum: most,
    unit: "users",
    description: "Users of an account. Far above the staff of a fleet; some customers make one for each driver.",
  }),
  groups: integer(1000, {
    env: "WAYBEAM_QUOTAS_GROUPS",
    minimum: 0,
    maximum: most,
    unit: "groups",
    description: "Groups of an account.",
  }),
  geofences: integer(10_000, {
    env: "WAYBEAM_QUOTAS_GEOFENCES",
    minimum: 0,
    maximum: most,
    unit: "geofences",
    description: "Geofences of an account: what the look-up of zones was measured with.",
  }),
  rules: integer(2000, {
    env: "WAYBEAM_QUOTAS_RULES",
    minimum: 0,
    maximum: most,
    unit: "rules",
    description: "Alert rules of an account: they are in memory while its trackers report.",
  }),
  rulesOfDevice: integer(200, {
    env: "WAYBEAM_QUOTAS_RULES_OF_DEVICE",
    minimum: 1,
    maximum: most,
    unit: "rules",
    description:
      "Alert rules that watch one device, by its id or through its groups, and those that name one group: each report of a device asks all that watch it.",
  }),
  webhooks: integer(1000, {
    env: "WAYBEAM_QUOTAS_WEBHOOKS",
    minimum: 0,
    maximum: most,
    unit: "webhooks",
    description: "Webhooks of all rules of an account: each is a call to another machine for each alert.",
  }),
  bytes: integer(67_108_864, {
    env: "WAYBEAM_QUOTAS_BYTES",
    minimum: 65_536,
    maximum: 1_000_000_000_000,
    unit: "bytes",
    description:
      "Stored texts of an account's users, groups, geofences and rules together. 10,000 devices of a group take 0.2 MB, a zone of 10,000 corners 0.4 MB.",
  }),
});
