import Type from "typebox";
import { type About, integer, optionalText, text, toggle } from "./kinds.ts";

const smpp = Type.Object({
  host: optionalText({
    env: "WAYBEAM_SMS_SMPP_HOST",
    maxLength: 253,
    description: "Host of the SMPP gateway; it may be in a private network.",
  }),
  port: integer(2775, {
    env: "WAYBEAM_SMS_SMPP_PORT",
    minimum: 1,
    maximum: 65_535,
    unit: "port",
    description: "Port of the SMPP gateway; with TLS often 3550.",
  }),
  tls: toggle({
    env: "WAYBEAM_SMS_SMPP_TLS",
    description: "Speak TLS to the gateway; its certificate must be valid for the host.",
  }),
  systemId: optionalText({
    env: "WAYBEAM_SMS_SMPP_SYSTEM_ID",
    maxLength: 64,
    description: "Our name at the gateway (system_id; SMPP 3.4 allows 15 characters, many gateways more).",
  }),
  password: optionalText({
    env: "WAYBEAM_SMS_SMPP_PASSWORD",
    maxLength: 64,
    secret: true,
    description: "The password to it (SMPP 3.4 allows 8 characters, many gateways more).",
  }),
  systemType: optionalText({
    env: "WAYBEAM_SMS_SMPP_SYSTEM_TYPE",
    maxLength: 12,
    description: "The system_type, where the gateway wants one.",
  }),
  source: optionalText({
    env: "WAYBEAM_SMS_SMPP_SOURCE",
    maxLength: 20,
    pattern: "^([0-9A-Za-z .&_-]{1,11}|\\+?[0-9]{1,19})?$",
    example: "empty, a number of up to 19 digits with or without +, or a name of up to 11 letters and digits",
    description:
      "Sender's address: a number (with + an international one), a short code or a name. Empty: the gateway's own.",
  }),
  window: integer(10, {
    env: "WAYBEAM_SMS_SMPP_WINDOW",
    minimum: 1,
    maximum: 1000,
    unit: "messages",
    description: "Messages that may be without the gateway's answer at a time; gateways throttle who sends more.",
  }),
  enquireSeconds: integer(30, {
    env: "WAYBEAM_SMS_SMPP_ENQUIRE_SECONDS",
    minimum: 1,
    maximum: 3600,
    unit: "s",
    description: "Interval of the keep-alive (enquire_link) that finds a dead connection.",
  }),
});

const http = Type.Object({
  method: Type.Union([Type.Literal("POST"), Type.Literal("GET"), Type.Literal("PUT")], {
    env: "WAYBEAM_SMS_HTTP_METHOD",
    default: "POST",
    description: "Method of the request that sends a message.",
  } satisfies About),
  url: optionalText({
    env: "WAYBEAM_SMS_HTTP_URL",
    maxLength: 4096,
    secret: true,
    description:
      "Address of the gateway, with placeholders ({to}, {digits}, {text}, {hex}, {base64}, {secret}) in its path and query. Not shown, since it may hold a key.",
  }),
  headers: optionalText({
    env: "WAYBEAM_SMS_HTTP_HEADERS",
    maxLength: 8192,
    secret: true,
    description: 'Headers as a JSON object of strings, {"Authorization":"Bearer {secret}"}; {secret} only.',
  }),
  format: Type.Union([Type.Literal("json"), Type.Literal("form")], {
    env: "WAYBEAM_SMS_HTTP_FORMAT",
    default: "json",
    description: "What the body is; placeholders in it are encoded so.",
  } satisfies About),
  body: optionalText({
    env: "WAYBEAM_SMS_HTTP_BODY",
    maxLength: 8192,
    secret: true,
    description: 'Body with placeholders, {"to":"{to}","text":"{text}"} or to={to}&text={text}. Empty: none is sent.',
  }),
  binaryUrl: optionalText({
    env: "WAYBEAM_SMS_HTTP_BINARY_URL",
    maxLength: 4096,
    secret: true,
    description:
      "Address for 8-bit binary messages, where it is another. Without it and a binary body none can be sent.",
  }),
  binaryBody: optionalText({
    env: "WAYBEAM_SMS_HTTP_BINARY_BODY",
    maxLength: 8192,
    secret: true,
    description: "Body for 8-bit binary messages, with {hex} or {base64}.",
  }),
  secret: optionalText({
    env: "WAYBEAM_SMS_HTTP_SECRET",
    maxLength: 4096,
    pattern: "^[ -~]*$",
    example: "printable ASCII",
    secret: true,
    description: "What {secret} stands for, so that a key can come from the environment and the rest from the file.",
  }),
  success: text("200-299", {
    env: "WAYBEAM_SMS_HTTP_SUCCESS",
    pattern: "^[1-5][0-9]{2}(-[1-5][0-9]{2})?(,[1-5][0-9]{2}(-[1-5][0-9]{2})?)*$",
    example: "status codes like 200,202 or 200-299",
    description: "Status codes that say that the gateway took the message.",
  }),
  idPath: optionalText({
    env: "WAYBEAM_SMS_HTTP_ID_PATH",
    description: "Where a JSON answer has the message's id: messages.0.id. An answer without it is no success.",
  }),
  idPattern: optionalText({
    env: "WAYBEAM_SMS_HTTP_ID_PATTERN",
    description:
      "Regular expression whose first group is the message's id, for other answers: ^OK (\\S+). One that it does not match is no success.",
  }),
  allowPrivate: toggle({
    env: "WAYBEAM_SMS_HTTP_ALLOW_PRIVATE",
    description:
      "Let the gateway be at a private or loopback address. Metadata services of clouds stay refused, redirects are never followed.",
  }),
});

/** How SMS are sent. */
export const sms = Type.Object({
  kind: Type.Union([Type.Literal("none"), Type.Literal("smpp"), Type.Literal("http")], {
    env: "WAYBEAM_SMS_KIND",
    default: "none",
    description: "The gateway that sends SMS: none, by SMPP 3.4, or by HTTP requests.",
  } satisfies About),
  timeoutSeconds: integer(10, {
    env: "WAYBEAM_SMS_TIMEOUT_SECONDS",
    minimum: 1,
    maximum: 25,
    unit: "s",
    description:
      "Time that the gateway has for its answer: below the time of an API request, which waits for it (http.timeoutSeconds).",
  }),
  maxParts: integer(6, {
    env: "WAYBEAM_SMS_MAX_PARTS",
    minimum: 1,
    maximum: 255,
    unit: "parts",
    description: "Parts that a long message may have, since each one is paid for; longer ones are refused. SMPP only.",
  }),
  smpp,
  http,
});
