import Type, { type Static } from "typebox";
import { deviceIdPattern, kmhPer, type SpeedUnit } from "../model/device.ts";
import { networkPattern } from "../model/network.ts";
import { protocolIds, protocolsWithSecret } from "../model/protocol-ids.ts";
import type { RefusedReport } from "../model/refused.ts";
import { success } from "./envelope.ts";
import { printable, shortLimit, simNumber } from "./forms.ts";
import { GivenPositionDays, ShownPositionDays } from "./old-positions.ts";
import { listed } from "./page.ts";
import {
  GivenTags,
  GivenTextOrNull,
  Instant,
  NullableInstant,
  NullableList,
  NullableNumber,
  NullableText,
  PathId,
  reference,
  Texts,
} from "./schema.ts";

const example = {
  id: "490154203237518",
  name: "Truck 12",
  description: null,
  min: "+573001234567",
  tags: { plate: "ABC-123" },
  expires: "2027-12-31T00:00:00.000Z",
  aliases: ["03237518"],
  milleageStart: 120_000,
  protocols: ["osmand"],
  networks: ["203.0.113.0/24", "2001:db8::/32"],
  positionDays: null,
  timeOffset: 0,
  speedUnit: null,
  secretSet: true,
};

const { id: _, secretSet: _set, ...kept } = example;
const settableExample = { ...kept, secret: "kept-by-tracker-only" };

/** Seconds: no clock is further from UTC by its zone. */
const longestOffset = 86_400;

function SpeedUnitOrNull(description: string) {
  return Type.Unsafe<SpeedUnit | null>({ type: ["string", "null"], enum: [...Object.keys(kmhPer), null], description });
}

/** A device as answers show it; `aliases` and `milleageStart` are our own. */
export const DeviceView = Type.Object(
  {
    id: Type.String({ description: "The identifier that the tracker reports (IMEI or other)." }),
    name: Type.String(),
    description: NullableText(),
    min: NullableText({ description: "Phone number of its SIM." }),
    tags: Texts({ description: "For the caller's own use." }),
    expires: NullableInstant({ description: "From then on its data is refused and it uses no licence; null: never." }),
    aliases: Type.Array(Type.String(), { description: "Other identifiers that the tracker may report." }),
    milleageStart: Type.Number({ description: "Where `milleage` starts, km." }),
    protocols: Type.Array(Type.String(), { description: "The protocols that its tracker may speak; none: any." }),
    networks: Type.Array(Type.String(), { description: "The networks that it may come from; none: any." }),
    positionDays: ShownPositionDays("For how many days its positions are kept; null: as set for its account."),
    timeOffset: Type.Integer({
      description: "What its clock is ahead of UTC, seconds: it is taken off the times that it reports.",
    }),
    speedUnit: SpeedUnitOrNull("What its numbers of speed mean; null: what its protocol says."),
    secretSet: Type.Boolean({
      description: "Whether its tracker must bring a password or key. The secret itself is never given back.",
    }),
  },
  { $id: "Device", description: "A registered device.", examples: [example] },
);
export type DeviceView = Static<typeof DeviceView>;
const deviceReference = reference<DeviceView>("Device");

const deviceId = Type.String({
  pattern: deviceIdPattern,
  description: "1 to 64 of letters, digits, - _ . : @ + / (and neither `.` nor `..`)",
});

/** Characters of the longest secret. */
export const longestSecret = 128;

const settable = {
  name: Type.Optional(GivenTextOrNull({ maxLength: 256, description: "Unset or blank: the id." })),
  description: Type.Optional(GivenTextOrNull({ maxLength: 4096 })),
  min: Type.Optional(
    NullableText({
      pattern: simNumber,
      description: "Phone number of its SIM.",
      examples: ["+573001234567"],
    }),
  ),
  tags: Type.Optional(GivenTags()),
  expires: Type.Optional(NullableInstant()),
  aliases: Type.Optional(
    Type.Unsafe<readonly string[] | null>({
      type: ["array", "null"],
      items: { type: "string", pattern: deviceIdPattern },
      uniqueItems: true,
      maxItems: 16,
      description:
        "Other identifiers that the tracker may report; unique in the whole service. Each needs the right to register a device with it and counts to the account's identifiers. None can be an IMEI or what an unregistered tracker reports now: such a tracker is registered with that as its id.",
    }),
  ),
  milleageStart: Type.Optional(
    NullableNumber({ minimum: 0, maximum: 100_000_000, description: "Where `milleage` starts, km." }),
  ),
  protocols: Type.Optional(
    NullableList({
      items: { type: "string", enum: [...protocolIds] },
      uniqueItems: true,
      maxItems: protocolIds.length,
      description:
        "The protocols that its tracker may speak; unset or empty: any. A tracker that speaks another one is refused.",
    }),
  ),
  networks: Type.Optional(
    NullableList({
      items: { type: "string", pattern: networkPattern },
      uniqueItems: true,
      maxItems: 16,
      description:
        "The networks that it may come from, IPv4 or IPv6 (`203.0.113.0/24`; an address alone is a network); unset or empty: any. A tracker from elsewhere is refused.",
    }),
  ),
  positionDays: GivenPositionDays(
    "For how many days its positions are kept, in place of its account's `positionDays`; older ones are deleted for good. Left out: unchanged; null: as set for its account.",
  ),
  timeOffset: Type.Optional(
    Type.Unsafe<number | null>({
      type: ["integer", "null"],
      minimum: -longestOffset,
      maximum: longestOffset,
      description:
        "What its clock is ahead of UTC, seconds (7200: it runs in UTC+2). It is taken off the times that it reports from now on. Unset: 0.",
    }),
  ),
  speedUnit: Type.Optional(
    SpeedUnitOrNull(
      "What its numbers of speed mean, where it does not keep to its protocol. It counts for what it reports from now on. Unset: what its protocol says.",
    ),
  ),
  secret: Type.Optional(
    NullableText({
      minLength: 1,
      maxLength: longestSecret,
      pattern: printable,
      description: `The password or key that its tracker's messages must carry. Only ${protocolsWithSecret.join(", ")} can: in any other protocol a device with a secret is refused. Left out: as it is; null: none. It is stored as a hash and never given back.`,
    }),
  ),
};

/** Body of POST /api/devices. What is unset or null takes its default. */
export const NewDevice = Type.Object(
  { id: deviceId, ...settable },
  { examples: [{ id: example.id, ...settableExample }] },
);
export type NewDevice = Static<typeof NewDevice>;

/** Body of POST /api/devices/{deviceId}/changeId. */
export const IdReplacement = Type.Object({ id: deviceId }, { examples: [{ id: "490154203237526" }] });
export type IdReplacement = Static<typeof IdReplacement>;

/** Body of PUT /api/devices/{deviceId}, and what the result of a PATCH must be. It resets what it leaves out. */
export const DeviceReplacement = Type.Object(settable, { examples: [settableExample] });
export type DeviceReplacement = Static<typeof DeviceReplacement>;

/** Names of the fields that a caller may set. */
export const settableDeviceFields: readonly string[] = Object.keys(settable);

const highestLimit = 1_000_000;

/** Body of PUT /api/devices/{deviceId}/limits (specification 8). It resets what it leaves out. */
export const LimitsReplacement = Type.Object(
  {
    expires: Type.Optional(NullableInstant()),
    dailyEmailLimit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: highestLimit,
        description: "E-mails a day, in the account's time zone. Unset: 50.",
      }),
    ),
    dailySmsLimit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: highestLimit,
        description: "SMS a day, in the account's time zone. Unset: 10.",
      }),
    ),
  },
  { examples: [{ expires: "2027-12-31T00:00:00Z", dailyEmailLimit: 50, dailySmsLimit: 10 }] },
);
export type LimitsReplacement = Static<typeof LimitsReplacement>;

/** Names of the limits that a caller may set. */
export const settableLimits: readonly string[] = Object.keys(LimitsReplacement.properties);

/** Path of every call to one device. An id that no device can have is unknown, not a bad request. */
export const DevicePath = Type.Object({
  deviceId: PathId({
    pattern: deviceIdPattern,
    description: "The device's id; upper and lower case differ.",
    examples: [example.id],
  }),
});

/** Answer of GET devices: those that the user may see, without the expired ones. */
export const DevicesAnswer = success(listed("devices", Type.Array(deviceReference)));
export const DeviceAnswer = success({ device: deviceReference });
export const DoneAnswer = success({});

/** Answer of GET and PUT devices/{id}/limits: the limits, and what of them is used today. */
export const LimitsAnswer = success({
  expires: NullableInstant(),
  dailyEmailLimit: Type.Integer(),
  dailySmsLimit: Type.Integer(),
  emailsSentToday: Type.Integer(),
  smsSentToday: Type.Integer(),
});

const refusalCauses: readonly RefusedReport["cause"][] = ["future", "past", "position"];

/** A refused report, as the API shows it. */
export const RefusedView = Type.Object({
  dateTime: Instant({ description: "The time that the tracker gave." }),
  receivedAt: Instant({ description: "When the report arrived." }),
  cause: Type.Unsafe<RefusedReport["cause"]>({
    type: "string",
    enum: [...refusalCauses],
    description: "Its time lies in the future or too far back, or its position is none on earth.",
  }),
  report: Type.Unknown({
    description: "The report as it was decoded; of one that is longer than 4 KiB, its time and position.",
  }),
});
export type RefusedView = Static<typeof RefusedView>;

/** Query of GET .../refused. Query parameters are texts. */
export const RefusedQuery = Type.Object({
  limit: Type.Optional(Type.String({ pattern: shortLimit, description: "1 to 1000. Unset: 1000.", examples: ["100"] })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: "The `nextCursor` of the answer before." }),
  ),
});
export type RefusedQuery = Static<typeof RefusedQuery>;

/** Answer with a page of the reports of a device that were kept as evidence and are no locations. */
export const RefusedAnswer = success({
  refused: Type.Array(RefusedView, {
    description: "Reports that were kept as evidence and are no location, newest first.",
  }),
  nextCursor: Type.Optional(Type.String({ description: "Where older ones begin; absent: there are none." })),
  dropped: Type.Optional(
    Type.Object(
      { reports: Type.Integer(), until: Instant({ description: "When the newest of them had arrived." }) },
      {
        description:
          "Reports that were deleted before their time, since the device had too many bytes of them; absent: none.",
      },
    ),
  ),
});
