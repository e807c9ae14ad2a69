import Type, { type Static } from "typebox";
import type { CommandChannel, CommandFormat, CommandState } from "../model/command.ts";
import { DevicePath } from "./device.ts";
import { success } from "./envelope.ts";
import { base64Bytes, hexBytes, requestKey } from "./forms.ts";
import { listed } from "./page.ts";
import { GivenText, Instant, NullableInstant, NullableText, PathId, reference } from "./schema.ts";

const formats: readonly CommandFormat[] = ["Text", "Hex", "Base64"];
const channels: readonly CommandChannel[] = ["data", "sms"];
const states: readonly CommandState[] = ["queued", "sent", "delivered", "failed", "expired", "cancelled"];

/**
 * Longest text of a command: several times what any tracker takes in one message, and little enough to keep a record of
 * each.
 */
const longestCommand = 4096;
/**
 * Longest wait: whoever has not connected for a month has a need that was forgotten, and an old command that fires is
 * worse than none.
 */
const longestTtl = 2_592_000;

function nullable<T>(type: string, options: object) {
  return Type.Optional(Type.Unsafe<T | null>({ type: [type, "null"], ...options }));
}

const unwrapped = { enum: [false, null] };

/** What a command's fields ask of each other. */
export const commandForms = {
  anyOf: [
    { properties: { format: { enum: ["Text", null] } } },
    {
      properties: { format: { const: "Hex" }, command: { pattern: hexBytes }, encode: unwrapped },
      required: ["format"],
    },
    {
      properties: { format: { const: "Base64" }, command: { pattern: base64Bytes }, encode: unwrapped },
      required: ["format"],
    },
  ],
  not: { properties: { sms: { const: true }, encode: { const: true } }, required: ["sms", "encode"] },
};

/**
 * Body of POST .../sendCommand (specification 2.6); `encode` and `ttlSeconds` are our own. What is unset or null takes
 * its default.
 */
export const CommandRequest = Type.Object(
  {
    command: GivenText({ minLength: 1, maxLength: longestCommand, description: "What to send." }),
    format: nullable<CommandFormat>("string", {
      enum: [...formats, null],
      description:
        "How `command` is to be understood: as text, sent as UTF-8 exactly as given; as hexadecimal bytes, spaces and hyphens ignored; as Base64. Unset: Text.",
    }),
    sms: nullable<boolean>("boolean", {
      description: "By SMS, rather than over the device's data connection. Unset: false.",
    }),
    encode: nullable<boolean>("boolean", {
      description:
        "The device's protocol wraps the text as its manual says. Unset: false, the bytes are sent as they are.",
    }),
    ttlSeconds: nullable<number>("integer", {
      minimum: 0,
      maximum: longestTtl,
      description: "How long the command may wait for the device to connect; 0: not at all. Unset: 86,400.",
    }),
  },
  {
    examples: [
      { command: "RELAY,1#", encode: true },
      { command: "78 78 15 80", format: "Hex", ttlSeconds: 3600 },
      { command: "begin123456", sms: true },
    ],
    documented: commandForms,
  },
);
export type CommandRequest = Static<typeof CommandRequest>;

/** Header of it. */
export const CommandHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      pattern: requestKey,
      description:
        "Names this wish of the user: sent again under the same key it is not done twice, and answered as the first time. With another body: 409.",
      examples: ["8e03978e-40d5-43e8-bc93-6894a57f9324"],
    }),
  ),
});

/** Answer of it. */
export const CommandResultAnswer = success({
  result: Type.String({
    description:
      "The device's reply; or a sentence that begins with what became of the command: sent, queued, failed, delivered, expired, cancelled.",
    examples: [
      "RELAY:1 OK",
      "queued: the device is not connected; it is sent when it connects, until 2026-11-22T10:29:00.000Z",
    ],
  }),
  commandId: Type.String({ description: "The record that tells what becomes of it." }),
});

/** A command and what became of it. */
export const CommandView = Type.Object(
  {
    id: Type.String(),
    state: Type.Unsafe<CommandState>({
      type: "string",
      enum: [...states],
      description:
        "queued: waits for the device to connect · sent: written to the connection, or taken by the SMS gateway · delivered: the device answered, or the gateway reports delivery · failed · expired: its time ran out · cancelled.",
    }),
    channel: Type.Unsafe<CommandChannel>({ type: "string", enum: [...channels] }),
    command: Type.String(),
    format: Type.Unsafe<CommandFormat>({ type: "string", enum: [...formats] }),
    encode: Type.Boolean(),
    user: Type.String({ description: "E-mail address of who asked for it, as it was then." }),
    creation: Instant({ description: "When it was asked for." }),
    expires: Instant({ description: "Until when it may be sent." }),
    sentAt: NullableInstant(),
    finishedAt: NullableInstant(),
    reply: NullableText({ description: "The device's answer." }),
    failure: NullableText({ description: "What went wrong, or what is not known." }),
  },
  {
    $id: "Command",
    description: "A command to a device and what became of it.",
    examples: [
      {
        id: "019ab2f0-3c5e-7d11-8a52-5f0c2f6f7b10",
        state: "delivered",
        channel: "data",
        command: "RELAY,1#",
        format: "Text",
        encode: true,
        user: "ana@example.com",
        creation: "2026-11-21T10:29:00.000Z",
        expires: "2026-11-22T10:29:00.000Z",
        sentAt: "2026-11-21T10:29:00.004Z",
        finishedAt: "2026-11-21T10:29:01.250Z",
        reply: "RELAY:1 OK",
        failure: null,
      },
    ],
  },
);
export type CommandView = Static<typeof CommandView>;

/** Answer of it. */
export const CommandsAnswer = success(
  listed("commands", Type.Array(reference<CommandView>("Command"), { description: "Newest first." })),
);

/** Path of one command. */
export const CommandPath = Type.Object({
  ...DevicePath.properties,
  commandId: PathId({ description: "The command's id.", examples: ["019ab2f0-3c5e-7d11-8a52-5f0c2f6f7b10"] }),
});
