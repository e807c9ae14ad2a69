import Type, { type Static } from "typebox";
import { type About, integer, optionalText } from "./kinds.ts";
import type { Problem } from "./problem.ts";

/** How e-mail is sent. */
export const mail = Type.Object({
  host: optionalText({
    env: "WAYBEAM_MAIL_HOST",
    maxLength: 253,
    description:
      "Host of the mail server (SMTP) that notices by e-mail are given to. Empty: none, and they are suppressed.",
  }),
  port: integer(587, {
    env: "WAYBEAM_MAIL_PORT",
    minimum: 1,
    maximum: 65_535,
    unit: "port",
    description: "Port of the mail server: 587 with starttls, 465 with tls, 25 for a server that relays to others.",
  }),
  security: Type.Union([Type.Literal("starttls"), Type.Literal("tls"), Type.Literal("opportunistic")], {
    env: "WAYBEAM_MAIL_SECURITY",
    default: "starttls",
    description:
      "starttls: nothing is sent before the connection is encrypted; tls: it is from the start; opportunistic: encrypted where the server offers it, whatever its certificate, for a server in one's own network.",
  } satisfies About),
  user: optionalText({
    env: "WAYBEAM_MAIL_USER",
    maxLength: 320,
    description: "User name at the mail server. Empty: it wants none.",
  }),
  password: optionalText({
    env: "WAYBEAM_MAIL_PASSWORD",
    maxLength: 1024,
    secret: true,
    description: "The password to it.",
  }),
  from: optionalText({
    env: "WAYBEAM_MAIL_FROM",
    maxLength: 512,
    pattern: "^([^<>\\r\\n]*<[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)?$",
    example: "an address like alerts@example.org, or Alerts <alerts@example.org>",
    description: "Sender of the notices; its domain is that of their Message-ID, too.",
  }),
  connections: integer(5, {
    env: "WAYBEAM_MAIL_CONNECTIONS",
    minimum: 1,
    maximum: 100,
    unit: "connections",
    description: "Connections to the mail server, each with one mail at a time: servers refuse who opens many.",
  }),
  timeoutSeconds: integer(30, {
    env: "WAYBEAM_MAIL_TIMEOUT_SECONDS",
    minimum: 1,
    maximum: 600,
    unit: "s",
    description:
      "Time that the mail server has for a mail, from connecting to its last answer; then it is tried again.",
  }),
});

/** What is wrong with the settings beyond each one by itself. Where no server is named they are not looked at. */
export function mailProblems(settings: Static<typeof mail>): readonly Omit<Problem, "from">[] {
  const { host, from, user, password, security } = settings;
  if (host === "") return [];
  const found: Omit<Problem, "from">[] = [];
  if (from === "") found.push({ key: "mail.from", wrong: "it is empty", right: "it must be set where mail.host is" });
  if ((user === "") !== (password === "")) {
    const key = user === "" ? "mail.user" : "mail.password";
    found.push({ key, wrong: "it is empty", right: "mail.user and mail.password must both be set, or none" });
  }
  if (user !== "" && security === "opportunistic") {
    const right = "it must be starttls or tls where there is a password, which anybody could read otherwise";
    found.push({ key: "mail.security", wrong: "opportunistic", right });
  }
  return found;
}
