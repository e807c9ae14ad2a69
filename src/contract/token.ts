import Type, { type Static } from "typebox";
import { success } from "./envelope.ts";
import { GivenText, Instant } from "./schema.ts";

/** Body of POST /api/Auth/Token (specification 4.1). */
export const TokenRequest = Type.Object(
  {
    userName: GivenText({ minLength: 1, maxLength: 320, description: "The user's e-mail address, in any case." }),
    apiKey: GivenText({ minLength: 1, maxLength: 256, description: "The user's API key." }),
  },
  { examples: [{ userName: "owner@example.com", apiKey: "<API_KEY>" }] },
);
export type TokenRequest = Static<typeof TokenRequest>;

/** Answer to it (specification 2.2). */
export const TokenAnswer = success({
  token: Type.String({ description: "JWT for the header `Authorization: Bearer`.", examples: ["<ACCESS_TOKEN>"] }),
  expires: Instant({ description: "When the token ends." }),
});
