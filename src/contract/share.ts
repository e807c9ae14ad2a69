import Type, { type Static } from "typebox";
import { serviceSuccess, success } from "./envelope.ts";
import { listed } from "./page.ts";
import { GivenName, GivenText, Instant, PathId, reference } from "./schema.ts";

const example = {
  id: "019ab301-52f7-7c90-9a1e-000000000001",
  name: "Delivery to Tunja",
  deviceId: "490154203237518",
  groupId: null,
  user: "ana@example.com",
  creation: "2026-11-21T10:29:00.000Z",
  expires: "2026-11-22T10:29:00.000Z",
};

/** Body of POST /api/shares. */
export const ShareRequest = Type.Object(
  {
    deviceId: Type.Optional(GivenText({ maxLength: 64, description: "The device to share; this or `groupId`." })),
    groupId: Type.Optional(GivenText({ maxLength: 64, description: "The group whose devices are shared." })),
    expires: Instant({ description: "When the link ends: in the future, and no later than the service allows." }),
    name: Type.Optional({ ...GivenName(), description: "What its holders read. Unset: the device's or group's name." }),
  },
  {
    examples: [{ deviceId: example.deviceId, expires: example.expires, name: example.name }],
    documented: { oneOf: [{ required: ["deviceId"] }, { required: ["groupId"] }] },
  },
);
export type ShareRequest = Static<typeof ShareRequest>;

/** A link as its maker sees it. */
export const ShareView = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: "What its holders read." }),
    deviceId: Type.Unsafe<string | null>({ type: ["string", "null"], description: "null: it shares a group." }),
    groupId: Type.Unsafe<string | null>({ type: ["string", "null"], description: "null: it shares a device." }),
    user: Type.Unsafe<string>({ type: "string", description: "E-mail address of who made it." }),
    creation: Instant(),
    expires: Instant({ description: "When the link ends." }),
  },
  { $id: "ShareView", description: "A link to a device or group.", examples: [example] },
);
/** A link as its maker sees it. */
export type ShareView = Static<typeof ShareView>;
const shareReference = reference<ShareView>("ShareView");

/** Answer of POST /api/shares. */
export const ShareMadeAnswer = success({
  share: shareReference,
  token: Type.String({ description: "Of the link; shown this once.", examples: ["<TOKEN>"] }),
  path: Type.String({
    description: "The link, behind the service's address. The part after # never leaves the browser that opens it.",
    examples: ["/s#<TOKEN>"],
  }),
});

/** Answer of GET /api/shares. */
export const SharesAnswer = success(listed("shares", Type.Array(shareReference, { description: "The newest first." })));

/** Path of one link. */
export const SharePath = Type.Object({ shareId: PathId({ description: "The link's id.", examples: [example.id] }) });

/** Where a shared device is: of its last location only what a map shows. */
export const SharedPlace = Type.Object(
  {
    dateTime: Instant({ description: "When the position was taken, UTC." }),
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    speed: Type.Optional(Type.Number({ description: "km/h" })),
    course: Type.Optional(Type.Number({ description: "Degrees clockwise from north." })),
  },
  { examples: [{ dateTime: example.creation, latitude: 4.711, longitude: -74.0721, speed: 42, course: 181 }] },
);
export type SharedPlace = Static<typeof SharedPlace>;

const place = Type.Unsafe<SharedPlace | null>({
  anyOf: [SharedPlace, { type: "null" }],
  description: "null while it has never reported.",
});
const key = Type.String({
  description: "Names the device in this link and nowhere else.",
  examples: ["8fJq2mQ9kVx0aBcD"],
});

/** A device as the holder of a link sees it. */
export const SharedDevice = Type.Object({ key, name: Type.String(), location: place });
export type SharedDevice = Static<typeof SharedDevice>;

/** Answer of GET /api/shared. */
export const SharedAnswer = serviceSuccess({
  name: Type.String({ description: "What the link's maker called it." }),
  expires: Instant({ description: "When the link ends." }),
  devices: Type.Array(SharedDevice),
});

/** An event of GET /api/shared/stream. */
export const SharedEvent = Type.Object(
  {
    id: Type.Optional(Type.String()),
    event: Type.Unsafe<"location" | "gone" | "live" | "reset" | "end">({
      type: "string",
      enum: ["location", "gone", "live", "reset", "end"],
    }),
    data: Type.Object({
      key: Type.Optional(key),
      name: Type.Optional(Type.String()),
      location: Type.Optional(place),
      reason: Type.Optional(Type.String()),
      error: Type.Optional(Type.String()),
    }),
  },
  {
    description:
      "`location`: where a device is; `gone`: it is shared no longer; `live`: what follows happens now; `reset`: begin anew; `end`: the link has ended.",
    examples: [{ event: "location", data: { key: "8fJq2mQ9kVx0aBcD", name: "Truck 12", location: null } }],
  },
);
