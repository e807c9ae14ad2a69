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
  since: Instant({ description: "When it was muted." }),
  until: Instant({ description: "From this moment on people are told again." }),
  user: Type.String({ description: "E-mail address of the user who muted it, as it was then." }),
  note: NullableText({ description: "What others should know." }),
  critical: Type.Boolean({ description: "Whether nobody is told of critical alerts either." }),
};

const view = Type.Object(viewed);
/** A mute as answers show it. */
export type MuteView = Static<typeof view>;

/** What is in force of something, or null. */
export const MuteOrNull = Type.Unsafe<MuteView | null>({
  ...view,
  type: ["object", "null"],
  description: "Nobody is told of its alerts until then; null: it is not muted.",
  examples: [example],
});

/** Body of PUT /api/devices/{deviceId}/mute and /api/alertRules/{ruleId}/mute. */
export const MuteRequest = Type.Object(
  {
    until: Instant({
      description: `When people are told again: a moment to come, ${mostMuteDays} days ahead at most.`,
    }),
    note: Type.Optional(GivenTextOrNull({ maxLength: 2000, description: "What others should know." })),
    critical: Type.Optional(
      Type.Boolean({ description: "Whether nobody is told of critical alerts either. Unset: they are told." }),
    ),
  },
  { examples: [{ until: example.until, note: example.note }] },
);
export type MuteRequest = Static<typeof MuteRequest>;

/** Answer with what is in force of a device or rule. */
export const MuteAnswer = success({ mute: MuteOrNull });

/** A mute in the list of an account: of a device or of a rule. */
export const ListedMute = Type.Object(
  {
    deviceId: Type.Optional(Type.String({ description: "Id of the device that is muted." })),
    ruleId: Type.Optional(Type.String({ description: "Id of the rule that is muted." })),
    name: Type.String({ description: "Name of the device or rule." }),
    ...viewed,
  },
  {
    $id: "ListedMute",
    description: "A mute, and what is muted.",
    examples: [{ deviceId: "490154203237518", name: "Truck 12", ...example }],
  },
);
export type ListedMute = Static<typeof ListedMute>;

/** Answer of GET /api/mutes. */
export const MutesAnswer = success(listed("mutes", Type.Array(reference<ListedMute>("ListedMute"))));
