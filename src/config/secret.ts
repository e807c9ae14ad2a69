import Type from "typebox";
import { optionalText } from "./kinds.ts";

/** The key of the secrets in the database. */
export const secret = Type.Object({
  file: optionalText({
    env: "WAYBEAM_SECRET_FILE",
    maxLength: 4096,
    description:
      "File of the key that seals the secrets in the database: 32 bytes in base64. Empty: secret.key in the data folder. Made where neither it nor a sealed database is there.",
  }),
});
