import Type from "typebox";
import { success } from "./envelope.ts";

/** Answer of GET /api/account. */
export const AccountAnswer = success({
  name: Type.String(),
  timeZone: Type.String({ examples: ["America/Bogota"] }),
  licenses: Type.Object(
    { total: Type.Integer(), used: Type.Integer(), free: Type.Integer() },
    { description: "A device uses one until it expires.", examples: [{ total: 10_000, used: 12, free: 9988 }] },
  ),
});
