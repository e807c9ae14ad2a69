import Type from "typebox";
import { integer } from "./kinds.ts";

/** How long and how many records of commands are kept. */
export const commands = Type.Object({
  keepDays: integer(90, {
    env: "WAYBEAM_COMMANDS_KEEP_DAYS",
    minimum: 1,
    maximum: 36_500,
    unit: "days",
    description:
      "Time after which the record of a command that ended is deleted, with the idempotency key that it was sent under.",
  }),
  keptPerDevice: integer(1000, {
    env: "WAYBEAM_COMMANDS_KEPT_PER_DEVICE",
    minimum: 100,
    maximum: 10_000_000,
    unit: "records",
    description:
      "Records of commands kept of each device, so that a user who sends commands in a loop can't fill the disk: some 10 MB at most, or more than ten commands a day for keepDays. With more, the oldest that ended are deleted, with their idempotency keys; those that wait stay.",
  }),
});
