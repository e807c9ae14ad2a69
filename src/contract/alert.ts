import Type, { type Static } from "typebox";
import { success } from "./envelope.ts";
import { LocationsRequest } from "./location.ts";
import { Instant, reference } from "./schema.ts";

/** An alert that a device raised, where and when. */
export const Alert = Type.Object(
  {
    dateTime: Instant({ description: "When it was raised, UTC." }),
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    text: Type.String({ description: "What happened, for people." }),
    notifications: Type.Array(Type.String(), { description: "Channels by which people were told: Email, SMS." }),
    alerts: Type.Array(Type.String(), { description: "Names of the alerts." }),
  },
  {
    $id: "Alert",
    description: "An alert that a device raised.",
    examples: [
      {
        dateTime: "2026-11-21T10:29:00.000Z",
        latitude: 4.711,
        longitude: -74.0721,
        text: "Truck 12 is faster than 90 km/h",
        notifications: ["Email", "SMS"],
        alerts: ["Speed"],
      },
    ],
  },
);
export type Alert = Static<typeof Alert>;

/** Body of POST /api/devices/{deviceId}/alerts (specification 4.6): a range as of `locations`, and the name of an alert. */
export const AlertsRequest = Type.Object(
  {
    ...LocationsRequest.properties,
    alertName: Type.Optional(Type.String({ maxLength: 256, description: "Only those of the alert of this name." })),
  },
  { examples: [{ from: "2026-11-21T00:00:00Z", to: "2026-11-21T23:59:59.999Z", alertName: "Speed" }] },
);
export type AlertsRequest = Static<typeof AlertsRequest>;

/** Answer of POST devices/{id}/alerts. */
export const AlertsAnswer = success({
  alerts: Type.Array(reference<Alert>("Alert"), { description: "By time." }),
  nextCursor: Type.Optional(Type.String({ description: "Present where more follow; absent at the end." })),
});
