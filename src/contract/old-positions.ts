import Type, { type Static } from "typebox";
import { mostPositionDays } from "../model/position-days.ts";
import { serviceSuccess, success } from "./envelope.ts";
import { dayCount } from "./forms.ts";
import { Instant, NullableInstant, NullableInteger } from "./schema.ts";

/** `positionDays` in the body of a request. */
export function GivenPositionDays(description: string) {
  return Type.Optional(NullableInteger({ minimum: 1, maximum: mostPositionDays, description, examples: [365] }));
}

/** `positionDays` in an answer. */
export function ShownPositionDays(description: string) {
  return NullableInteger({ description });
}

/** Query of a preview. Query parameters are strings. */
export const OldPositionsQuery = Type.Object({
  days: Type.String({
    pattern: dayCount,
    description: "For how many days positions would be kept.",
    examples: ["365"],
  }),
});
export type OldPositionsQuery = Static<typeof OldPositionsQuery>;

/** What `positionDays` would delete. */
export const OldPositionsView = Type.Object(
  {
    days: Type.Integer(),
    before: Instant({ description: "Positions older than this would no longer be shown." }),
    devices: Type.Integer({ description: "Devices that would lose positions." }),
    positions: Type.Integer({
      description:
        "Positions that would be deleted. Positions are deleted by whole UTC days, and the newest day of a device stays.",
    }),
    from: NullableInstant({
      description: "Beginning of the UTC day of the oldest position that would be deleted; null if none would be.",
    }),
    to: NullableInstant({ description: "Time of the newest position that would be deleted; null if none would be." }),
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
/** Answer of the operator's preview. */
export const ServiceOldPositionsAnswer = serviceSuccess({ oldPositions: OldPositionsView });
