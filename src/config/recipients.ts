import Type from "typebox";
import { integer, optionalText } from "./kinds.ts";

/** How people outside of accounts are asked whether they want notices. */
export const recipients = Type.Object({
  url: optionalText({
    env: "WAYBEAM_RECIPIENTS_URL",
    maxLength: 200,
    pattern: '^(https?://[^\\s#?<>"]+)?$',
    example: "the http or https address of the REST API, such as https://track.example.com",
    description:
      "Address of this service as people outside reach it. The message with the code links to the page `/recipients` there, where its reader accepts or refuses. Empty: the message has no link, and who asked enters the code.",
  }),
  codesToAddress: integer(3, {
    env: "WAYBEAM_RECIPIENTS_CODES_TO_ADDRESS",
    minimum: 0,
    maximum: 1000,
    unit: "codes",
    description:
      "Codes that one e-mail address or phone number gets in a UTC day, whichever accounts ask: enough to mend a mistake, too few to annoy a stranger.",
  }),
  codesOfAccount: integer(50, {
    env: "WAYBEAM_RECIPIENTS_CODES_OF_ACCOUNT",
    minimum: 0,
    maximum: 1_000_000,
    unit: "codes",
    description:
      "Codes that an account sends in a UTC day: enough for a fleet's people, too few to mail a list of strangers. They count to the account's e-mails and SMS as well.",
  }),
  perAccount: integer(1000, {
    env: "WAYBEAM_RECIPIENTS_PER_ACCOUNT",
    minimum: 0,
    maximum: 1_000_000,
    unit: "recipients",
    description:
      "People outside the account that an account can ask, some 300 bytes each. At the limit one that never answered makes room.",
  }),
});
