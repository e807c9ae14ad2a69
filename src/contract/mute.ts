import Type, { type Static } from "typebox";
import { mostMuteDays } from "../model/mute.ts";
import { success } from "./envelope.ts";
import { listed } from "./page.ts";
import { GivenTextOrNull, Instant, NullableText, reference } from "./schema.ts";

const example = {
  since: "2026-11-21T10:29:00.000Z",
  until: "2026-11-23T06:00:00.000Z",
  user: "ana@example.com",
  note: "in the workshop",
  critical: false,
};

const viewed = {
  since: Instant({ description: "When the mute began." }),
  until: Instant({ description: "When the mute ends." }),
  user: Type.String({ description: "The e-mail address that the user had who set the mute." }),
  note: NullableText({ description: "What others should know." }),
  critical: Type.Boolean({ description: "Whether the mute includes critical alerts." }),
};

const view = Type.Object(viewed);
/** A mute as answers show it. */
export type MuteView = Static<typeof view>;

/** The mute in force, or null. */
export const MuteOrNull = Type.Unsafe<MuteView | null>({
  ...view,
  type: ["object", "null"],
  description: "The mute in force, which suppresses the notices of alerts; null if nothing is muted.",
  examples: [example],
});

/** Body of PUT /api/devices/{deviceId}/mute and /api/alertRules/{ruleId}/mute. */
export const MuteRequest = Type.Object(
  {
    until: Instant({
      description: `When the mute ends: in the future, at most ${mostMuteDays} days ahead.`,
    }),
    note: Type.Optional(GivenTextOrNull({ maxLength: 2000, description: "What others should know." })),
    critical: Type.Optional(Type.Boolean({ description: "Whether the mute includes critical alerts. Unset: false." })),
  },
  { examples: [{ until: example.until, note: example.note }] },
);
export type MuteRequest = Static<typeof MuteRequest>;

/** Answer with the mute of a device or rule. */
export const MuteAnswer = success({ mute: MuteOrNull });

/** A mute in the account's list, with the device or rule that it is of. */
export const ListedMute = Type.Object(
  {
    deviceId: Type.Optional(Type.String({ description: "Id of the device that is muted." })),
    ruleId: Type.Optional(Type.String({ description: "Id of the rule that is muted." })),
    name: Type.String({ description: "Name of the device or rule." }),
    ...viewed,
  },
  {
    $id: "ListedMute",
    description: "A mute, and the device or rule that it is of.",
    examples: [{ deviceId: "490154203237518", name: "Truck 12", ...example }],
  },
);
export type ListedMute = Static<typeof ListedMute>;

/** Answer of GET /api/mutes. */
export const MutesAnswer = success(listed("mutes", Type.Array(reference<ListedMute>("ListedMute"))));
