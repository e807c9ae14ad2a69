import Type, { type Static } from "typebox";
import type { AccountAlert } from "./account-alert.ts";
import type { CommandView } from "./command.ts";
import { boxForm, deviceIds, groupIds, kindsForm, mostDevicesAsked } from "./forms.ts";
import type { Location } from "./location.ts";
import { NullableInstant, reference } from "./schema.ts";

const lastEventId = {
  maxLength: 128,
  description:
    "Id of the last event that the client had: the stream goes on behind it. It must come from a stream of the same user with the same filters. Browsers send it by themselves when they connect again.",
};

/** Query of GET /api/stream. */
export const StreamQuery = Type.Object({
  device: Type.Optional(
    Type.String({
      pattern: deviceIds,
      description: `Only these devices: up to ${mostDevicesAsked} ids, separated by commas.`,
      examples: ["490154203237518"],
    }),
  ),
  group: Type.Optional(
    Type.String({
      pattern: groupIds,
      description: "Only the devices of the groups with these ids, separated by commas.",
      examples: ["b7e0c0de-5d6b-4c59-8f1d-6b0d1e2f3a44"],
    }),
  ),
  box: Type.Optional(
    Type.String({
      pattern: boxForm,
      description:
        "Only devices within this rectangle: west, south, east, north, in degrees. If west is greater than east, the rectangle spans the antimeridian. A device that leaves it is told once more.",
      examples: ["-74.3,4.4,-73.9,4.9"],
    }),
  ),
  kind: Type.Optional(
    Type.String({
      pattern: kindsForm,
      description: "Only these kinds of events, separated by commas: `location`, `alert`, `status`, `command`.",
      examples: ["location,alert"],
    }),
  ),
  lastEventId: Type.Optional(
    Type.String({ ...lastEventId, description: "As the header Last-Event-ID, for clients that can't set it." }),
  ),
});
export type StreamQuery = Static<typeof StreamQuery>;

/** Header of it. */
export const StreamHeaders = Type.Object({
  "last-event-id": Type.Optional(Type.String(lastEventId)),
});

const deviceId = Type.String({ description: "Id of the device." });

/** How a device is connected. */
const DeviceStatus = Type.Object({
  connected: Type.Boolean({ description: "Commands reach it now." }),
  protocol: Type.Optional(
    Type.String({ description: "What it speaks, or spoke last. Absent: it said nothing since the service started." }),
  ),
  lastContact: NullableInstant({ description: "When something last came from it. Null: never." }),
});

function event<N extends string, D>(name: N, description: string, data: D) {
  return Type.Object(
    {
      id: Type.Optional(Type.String({ description: "Where the stream goes on after a loss of the connection." })),
      event: Type.Literal(name),
      data: Type.Unsafe<D extends { static: infer S } ? S : never>(Object(data)),
    },
    { description },
  );
}

/** An event of a stream: `data` is JSON in one line. */
export const StreamEvent = Type.Union(
  [
    event(
      "location",
      "Where a device is. A newer position replaces those that were not sent yet.",
      Type.Object({
        deviceId,
        location: Type.Union([reference<Location>("Location"), Type.Null()], {
          description: "As `lastLocation` answers it. Null: the device has never reported a position.",
        }),
        status: DeviceStatus,
      }),
    ),
    event(
      "status",
      "A device has connected, disconnected, or connected on another way.",
      Type.Object({ deviceId, status: DeviceStatus }),
    ),
    event(
      "alert",
      "An alert was found, has ended, or was acknowledged or closed by a user: as it is now.",
      reference<AccountAlert>("AccountAlert"),
    ),
    event(
      "command",
      "A command was recorded, or what became of it.",
      Type.Object({ deviceId, command: reference<CommandView>("Command") }),
    ),
    event("gone", "A device was deleted, has expired, or has another id now.", Type.Object({ deviceId })),
    event(
      "reset",
      "The stream can't go on where it was: what was told before counts no more, and the present follows.",
      Type.Object({
        reason: Type.Union([Type.Literal("unknownId"), Type.Literal("missed"), Type.Literal("visibility")], {
          description:
            "`unknownId`: the id is not known any more, since the service or the account's last stream ended; `missed`: alerts or commands were lost; `visibility`: the user sees other devices than before.",
        }),
      }),
    ),
    event(
      "live",
      "The present, or what was missed, is complete. From now on events come as they happen.",
      Type.Object({}),
    ),
    event(
      "end",
      "The stream ends, since the user may use it no longer.",
      Type.Object({ error: Type.String({ description: "As a call is answered from now on." }) }),
    ),
  ],
  { description: "One event of the stream." },
);
export type StreamEvent = Static<typeof StreamEvent>;
