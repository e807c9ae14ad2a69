import Type from "typebox";
import { serviceSuccess, success } from "./envelope.ts";
import { listed } from "./page.ts";
import { Instant } from "./schema.ts";

/** Answer of GET /api/quarantine. */
export const QuarantineAnswer = serviceSuccess(
  listed(
    "quarantine",
    Type.Array(
      Type.Object({
        ids: Type.Array(Type.String(), { description: "The identifiers that it reported." }),
        protocol: Type.String(),
        address: Type.String(),
        firstSeen: Instant(),
        lastSeen: Instant(),
        attempts: Type.Integer(),
      }),
      { description: "Trackers that connected and are not registered. Nothing that they sent is kept." },
    ),
  ),
);

/** Body of POST /api/devices/{deviceId}/trace. */
export const TraceRequest = Type.Object(
  { after: Type.Optional(Type.Integer({ minimum: 0, description: "The highest `seq` already seen." })) },
  { examples: [{ after: 0 }] },
);

/** Answer to it. */
export const TraceAnswer = success({
  entries: Type.Array(
    Type.Object({
      seq: Type.Integer(),
      dateTime: Instant(),
      connection: Type.String(),
      protocol: Type.String(),
      address: Type.String(),
      message: Type.String({ description: "The message as it came, hex." }),
      cut: Type.Boolean({ description: "The message was longer than the trace keeps." }),
      effects: Type.Array(Type.Unknown(), { description: "In the form that `waybeam decode` prints." }),
      outcome: Type.String(),
    }),
  ),
});
