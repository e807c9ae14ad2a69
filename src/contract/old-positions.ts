import Type, { type Static } from "typebox";
import { mostPositionDays } from "../model/position-days.ts";
import { serviceSuccess, success } from "./envelope.ts";
import { Instant, NullableInstant, NullableInteger } from "./schema.ts";

/** How long positions are kept, as bodies say it. */
export function GivenPositionDays(description: string) {
  return Type.Optional(NullableInteger({ minimum: 1, maximum: mostPositionDays, description, examples: [365] }));
}

/** How long positions are kept, as answers show it. */
export function ShownPositionDays(description: string) {
  return NullableInteger({ description });
}

/** Query of a preview. Query parameters are texts. */
export const OldPositionsQuery = Type.Object({
  days: Type.String({
    pattern: "^[1-9][0-9]{0,4}$",
    description: "How many days positions would be kept.",
    examples: ["365"],
  }),
});
export type OldPositionsQuery = Static<typeof OldPositionsQuery>;

/** What would be deleted. */
export const OldPositionsView = Type.Object(
  {
    days: Type.Integer(),
    before: Instant({ description: "Positions from before it would not be shown any more." }),
    devices: Type.Integer({ description: "Devices of which some would be deleted." }),
    positions: Type.Integer({
      description:
        "Positions that would be deleted. Positions are deleted in blocks of some hundred, so those that share a block with younger ones stay until all of the block are old.",
    }),
    from: NullableInstant({ description: "Time of the oldest of them; null: there is none." }),
    to: NullableInstant({ description: "Time of the newest of them; null: there is none." }),
  },
  {
    examples: [
      {
        days: 365,
        before: "2025-11-21T00:00:00.000Z",
        devices: 12,
        positions: 1_204_224,
        from: "2024-02-01T06:12:44.000Z",
        to: "2025-11-20T23:41:10.000Z",
      },
    ],
  },
);
export type OldPositionsView = Static<typeof OldPositionsView>;

/** Answers of the previews. */
export const OldPositionsAnswer = success({ oldPositions: OldPositionsView });
/** The operator's one. */
export const ServiceOldPositionsAnswer = serviceSuccess({ oldPositions: OldPositionsView });
