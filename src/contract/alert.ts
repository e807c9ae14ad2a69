import Type, { type Static } from "typebox";
import type { AlertState } from "../model/alert.ts";
import { success } from "./envelope.ts";
import { LocationsRequest } from "./location.ts";
import { GivenText, Instant, NullableText, reference } from "./schema.ts";

/** The evidence of an alert. (As a record by hand: `Type.Record` has no place for names with a line feed.) */
const Facts = Type.Unsafe<Readonly<Record<string, string | number | boolean>>>({
  type: "object",
  additionalProperties: { type: ["string", "number", "boolean"] },
  description: "The evidence: what was measured and what it was compared with, in the units of the API.",
});

/** States of alerts. */
export const alertStates: readonly AlertState[] = ["open", "acknowledged", "closed"];

/** What somebody did with an alert. */
function act(user: string) {
  return Type.Object({
    dateTime: Instant(),
    user: NullableText({ description: user }),
    note: NullableText(),
  });
}

/** An alert as answers have it. */
export const alertExample = {
  dateTime: "2026-11-21T10:29:00.000Z",
  latitude: 4.711,
  longitude: -74.0721,
  text: "Speed 92 km/h over the limit of 80",
  notifications: ["Email", "SMS"],
  alerts: ["Speed"],
  id: "4f9b1d5e-0c1f-4f43-9d0e-3b8a5a6f2c11",
  ruleId: "b7e0c0de-5d6b-4c59-8f1d-6b0d1e2f3a44",
  type: "speedOver",
  phase: "raised",
  critical: false,
  late: false,
  raisedAt: "2026-11-21T10:29:01.204Z",
  facts: { value: 92, limit: 80 },
  state: "acknowledged",
  acknowledgement: { dateTime: "2026-11-21T10:31:00.000Z", user: "ana@example.com", note: "I call the driver" },
};

/** An alert that a device raised, where and when. */
export const Alert = Type.Object(
  {
    dateTime: Instant({ description: "When it happened: the time of the fix that shows it, UTC." }),
    latitude: Type.Optional(
      Type.Number({ minimum: -90, maximum: 90, description: "Absent before the device's first position ever." }),
    ),
    longitude: Type.Optional(
      Type.Number({ minimum: -180, maximum: 180, description: "Absent before the device's first position ever." }),
    ),
    text: Type.String({ description: "What happened, for people." }),
    notifications: Type.Array(Type.String(), {
      description: "Channels by which a message was accepted: Email, SMS, Webhook.",
    }),
    alerts: Type.Array(Type.String(), { description: "Names of the alerts." }),
    id: Type.String({ description: "Identifier of the alert." }),
    ruleId: Type.String({ description: "Identifier of the rule that found it, which may be gone since." }),
    type: Type.String({ description: "Type of the rule." }),
    phase: Type.Union([Type.Literal("raised"), Type.Literal("over"), Type.Literal("withdrawn")], {
      description:
        "`raised`: it became true; `over`: it is no longer true; `withdrawn`: an alert of this time, of a beginning or an end, was wrong, as later records show.",
    }),
    critical: Type.Boolean(),
    late: Type.Boolean({ description: "Found by records that arrived after newer ones." }),
    raisedAt: Instant({ description: "When it was found, UTC." }),
    facts: Facts,
    state: Type.Optional(
      Type.Unsafe<AlertState>({
        type: "string",
        enum: [...alertStates],
        description:
          "`open`: nobody has seen to it; `acknowledged`: somebody sees to it; `closed`: nothing is left to do. Absent in a trial. An alert of the phase `over` or `withdrawn` is closed from the start.",
      }),
    ),
    endedAt: Type.Optional(Instant({ description: "When it was over. Absent: it goes on, or happened at a moment." })),
    acknowledgement: Type.Optional(act("E-mail address of the user who acknowledged it.")),
    closing: Type.Optional(
      act("E-mail address of the user who closed it. Null: it closed by itself, because it was over or old."),
    ),
  },
  {
    $id: "Alert",
    description: "An alert that a device raised.",
    examples: [alertExample],
  },
);
export type Alert = Static<typeof Alert>;

/**
 * Body of POST /api/devices/{deviceId}/alerts (specification 4.6): a range as of `locations`, and the name of an alert.
 */
export const AlertsRequest = Type.Object(
  {
    ...LocationsRequest.properties,
    alertName: Type.Optional(GivenText({ maxLength: 256, description: "Only those of the alert of this name." })),
  },
  { examples: [{ from: "2026-11-21T00:00:00Z", to: "2026-11-21T23:59:59.999Z", alertName: "Speed" }] },
);
export type AlertsRequest = Static<typeof AlertsRequest>;

/** Answer of POST devices/{id}/alerts. */
export const AlertsAnswer = success({
  alerts: Type.Array(reference<Alert>("Alert"), { description: "By time." }),
  nextCursor: Type.Optional(Type.String({ description: "Present where more follow; absent at the end." })),
});
