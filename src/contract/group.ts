import Type, { type Static } from "typebox";
import { success } from "./envelope.ts";
import { anyText } from "./forms.ts";
import { listed } from "./page.ts";
import { GivenName, GivenTextOrNull, Instant, NullableList, NullableText, PathId, reference } from "./schema.ts";

const settableExample = { name: "Trucks", description: null, devices: ["490154203237518"] };
const example = {
  id: "019aa5c3-7d40-7b1e-9c5c-0d3a6a1f2b4d",
  ...settableExample,
  creation: "2026-01-01T08:00:00.000Z",
  lastModified: "2026-11-21T10:29:00.000Z",
};

const devices = "Ids of its devices; one that is not registered is kept and grants nothing.";

const viewed = {
  id: Type.String({ description: "Given by the service." }),
  name: Type.String(),
  description: NullableText(),
  devices: Type.Array(Type.String(), { description: devices }),
  creation: Instant(),
  lastModified: Instant(),
};

/** A group as answers show it (specification 2.4). What is not set is null. */
export const GroupView = Type.Object(viewed, { $id: "Group", description: "A group of devices.", examples: [example] });
export type GroupView = Static<typeof GroupView>;

/**
 * Body of POST /api/groups and PUT /api/groups/{groupId}, and what the result of a PATCH must be. It resets what it
 * leaves out.
 */
export const GroupBody = Type.Object(
  {
    name: GivenName(),
    description: Type.Optional(GivenTextOrNull({ maxLength: 4096 })),
    // What fits a body, so that a group that patches made can still be replaced.
    devices: Type.Optional(
      NullableList({
        items: { type: "string", minLength: 1, maxLength: 64, pattern: anyText },
        maxItems: 15_000,
        description: devices,
      }),
    ),
  },
  { examples: [settableExample] },
);
export type GroupBody = Static<typeof GroupBody>;

/** Names of the fields that a caller may set. */
export const settableGroupFields: readonly string[] = Object.keys(GroupBody.properties);

/** Path of every call to one group. */
export const GroupPath = Type.Object({ groupId: PathId({ examples: [example.id] }) });

/** Answer with one group: its fields stand beside the envelope. */
export const GroupAnswer = success(viewed, {
  examples: [{ success: true, error: null, apiUsage: 7, apiDailyUsage: 7, ...example }],
});
/** Answer of GET groups: those that the caller may see. */
export const GroupsAnswer = success(listed("groups", Type.Array(reference<GroupView>("Group"))));
