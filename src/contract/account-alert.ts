import Type, { type Static } from "typebox";
import type { AlertState } from "../model/alert.ts";
import type { AlertType } from "../model/alert-rule.ts";
import { Alert, alertExample, alertStates } from "./alert.ts";
import { alertTypes } from "./alert-parameters.ts";
import { success } from "./envelope.ts";
import { deviceIds, mostDevicesAsked } from "./forms.ts";
import { ShortPageQuery } from "./page.ts";
import { GivenText, GivenTextOrNull, PathId, reference } from "./schema.ts";

/** Alerts that one call may acknowledge or close. */
export const mostAtOnce = 1000;

const device = {
  deviceId: "490154203237518",
  deviceName: "Truck 12",
};

/** An alert with its device, as the list of an account has it. */
export const AccountAlert = Type.Object(
  {
    deviceId: Type.String({ description: "Id of the device that raised it." }),
    deviceName: Type.String(),
    ...Alert.properties,
  },
  {
    $id: "AccountAlert",
    description: "An alert with the device that raised it.",
    examples: [{ ...device, ...alertExample }],
  },
);
export type AccountAlert = Static<typeof AccountAlert>;

/** RFC 3339 with its offset, as a query parameter. */
function moment(description: string) {
  return Type.Optional(
    Type.String({ format: "date-time", description, examples: ["2026-11-21T00:00:00Z"], maxLength: 64 }),
  );
}

/** Query of GET /api/alerts. Query parameters are texts. */
export const AccountAlertsQuery = Type.Object({
  ...ShortPageQuery.properties,
  device: Type.Optional(
    Type.String({
      pattern: deviceIds,
      description: `Only alerts of these devices: up to ${mostDevicesAsked} ids, separated by commas.`,
      examples: [device.deviceId],
    }),
  ),
  group: Type.Optional(PathId({ description: "Only alerts of the devices of the group with this id." })),
  rule: Type.Optional(PathId({ description: "Only alerts of the rule with this id." })),
  type: Type.Optional(
    Type.Unsafe<AlertType>({
      type: "string",
      enum: [...alertTypes],
      description: "Only alerts of rules of this type.",
    }),
  ),
  state: Type.Optional(
    Type.Unsafe<AlertState>({
      type: "string",
      enum: [...alertStates],
      description: "Only alerts in this state.",
    }),
  ),
  critical: Type.Optional(
    Type.Unsafe<"true" | "false">({
      type: "string",
      enum: ["true", "false"],
      description: "Only alerts of critical rules (`true`), or only the others (`false`).",
    }),
  ),
  from: moment("Only alerts that happened (`dateTime`) then or later."),
  to: moment("Only alerts that happened then or before."),
  follow: Type.Optional(
    Type.Unsafe<"true">({
      type: "string",
      enum: ["true"],
      description:
        "Alerts that are found from now on, in the order in which they are found. The first answer has a `nextCursor` and no alerts. Each later one has the alerts that were found since, and the next `nextCursor`.",
    }),
  ),
});
export type AccountAlertsQuery = Static<typeof AccountAlertsQuery>;

/** Answer to it. */
export const AccountAlertsAnswer = success({
  alerts: Type.Array(reference<AccountAlert>("AccountAlert"), {
    description: "The newest first by `dateTime`; with `follow` in the order in which they were found.",
  }),
  nextCursor: Type.Optional(Type.String({ description: "Where the list goes on; absent: it ends here." })),
});

/** Body of POST /api/alerts/acknowledge and /close. */
export const AlertsActRequest = Type.Object(
  {
    ids: Type.Array(GivenText({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: mostAtOnce,
      description: "Ids of the alerts. If one is unknown, no alert changes.",
    }),
    note: Type.Optional(GivenTextOrNull({ maxLength: 2000, description: "What others should know." })),
  },
  { examples: [{ ids: ["4f9b1d5e-0c1f-4f43-9d0e-3b8a5a6f2c11"], note: "I call the driver" }] },
);
export type AlertsActRequest = Static<typeof AlertsActRequest>;

/** Answer to them. */
export const AlertsActAnswer = success({
  alerts: Type.Array(reference<AccountAlert>("AccountAlert"), { description: "As they are now." }),
});
