import Type from "typebox";
import { AccountLanguage, AccountPositionDays, Bound, capsShown, Licenses, QuotasView } from "./admin.ts";
import { success } from "./envelope.ts";

/** Answer of GET /api/account. */
export const AccountAnswer = success({
  id: Type.String({ examples: ["019a9f3e-7c1b-7e55-9d0b-3f6b2b8f6c11"] }),
  name: Type.String(),
  timeZone: Type.String({ examples: ["America/Bogota"] }),
  language: AccountLanguage,
  licenses: Licenses,
  ...capsShown,
  positionDays: AccountPositionDays,
  identifiers: Type.Object(Bound.properties, {
    description: "Ids and aliases of its devices, expired ones too.",
  }),
  quotas: QuotasView,
});
