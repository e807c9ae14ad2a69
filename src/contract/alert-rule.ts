import Type, { type Static } from "typebox";
import { type AlertType, type Weekday, weekdays } from "../model/alert-rule.ts";
import type { CommandFormat } from "../model/command.ts";
import { channels } from "./alert-channels.ts";
import { alertTypes, type GivenTrigger, parameterSchemas } from "./alert-parameters.ts";
import { commandForms } from "./command.ts";
import { success } from "./envelope.ts";
import { anyText, notBlank, timeOfDay } from "./forms.ts";
import { MuteOrNull } from "./mute.ts";
import { listed } from "./page.ts";
import {
  GivenName,
  GivenText,
  GivenTextOrNull,
  Instant,
  NullableNumber,
  NullableText,
  PathId,
  reference,
} from "./schema.ts";

/** Rules of a replacement of all that watch one device alone. */
const mostOfDevice = 100;
/** Devices that a rule names one by one; more are a group's. */
const mostDevices = 1000;
const mostGroups = 100;
/** Conditions of a rule: what nobody can read any more is no rule, and their states are bits of one number. */
const mostConditions = 10;
const mostCommands = 10;
/** Longest text of its own: two pages of a mail. */
const longestText = 2000;
const longestCommand = 4096;
/** A week, a month and a day: longer ones are mistakes in the unit. */
const longestHold = 604_800;
const longestCooldown = 2_592_000;
const longestDelay = 86_400;

const formats: readonly CommandFormat[] = ["Text", "Hex", "Base64"];
const operators = ["equal", "greater", "less", "inside", "outside"] as const;

function ids(maxItems: number, description: string) {
  const items = { type: "string", minLength: 1, maxLength: 64, pattern: anyText };
  return Type.Unsafe<readonly string[]>({ type: "array", items, maxItems, uniqueItems: true, description });
}

const localTime = (description: string) => Type.String({ pattern: timeOfDay, description, examples: ["00:00"] });

const schedule = Type.Object({
  days: Type.Unsafe<readonly Weekday[]>({
    type: "array",
    items: { type: "string", enum: [...weekdays] },
    uniqueItems: true,
    description: "At least one.",
    documented: { minItems: 1 },
  }),
  from: Type.Optional(localTime("Local time. Unset: 00:00.")),
  to: Type.Optional(
    localTime(
      "A time at or before `from` is on the next day. If both are 00:00, it is the whole day. A period over midnight belongs to the day on which it begins. Unset: 00:00.",
    ),
  ),
  timeZone: Type.Optional(
    GivenTextOrNull({ maxLength: 64, description: "IANA name. Unset: the account's.", documented: "timeZone" }),
  ),
});

const conditionForms = [
  { properties: { operator: { const: "equal" }, zone: false }, required: ["attribute", "value"] },
  {
    properties: { operator: { enum: ["greater", "less"] }, value: { type: "number" }, zone: false },
    required: ["attribute", "value"],
  },
  {
    properties: { operator: { enum: ["inside", "outside"] }, attribute: false, value: false },
    required: ["zone"],
  },
];

const condition = Type.Object(
  {
    attribute: Type.Optional(
      GivenText({
        minLength: 1,
        maxLength: 128,
        description: "With the operators equal, greater and less.",
        examples: ["ignition"],
      }),
    ),
    value: Type.Optional(
      Type.Unsafe<string | number | boolean>({
        type: ["string", "number", "boolean"],
        maxLength: 1024,
        pattern: anyText,
        description: "What the attribute is compared with.",
      }),
    ),
    zone: Type.Optional(
      GivenText({ maxLength: 64, description: "Id of a geofence; with the operators inside and outside." }),
    ),
    operator: Type.Unsafe<(typeof operators)[number]>({ type: "string", enum: [...operators] }),
  },
  { documented: { oneOf: conditionForms } },
);

const hysteresis = Type.Object({
  holdSeconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: longestHold, description: "For how long it must be true. Unset: 0." }),
  ),
  rearmAt: Type.Optional(
    NullableNumber({
      description: "For types with a threshold: the value at which the alert is over. Unset: the threshold.",
    }),
  ),
  cooldownSeconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: longestCooldown, description: "Shortest time between two alerts. Unset: 0." }),
  ),
});

const command = Type.Object(
  {
    command: GivenText({ minLength: 1, maxLength: longestCommand }),
    format: Type.Optional(
      Type.Unsafe<CommandFormat>({ type: "string", enum: [...formats], description: "Unset: Text." }),
    ),
    sms: Type.Optional(Type.Boolean({ description: "By SMS. Unset: false." })),
    encode: Type.Optional(Type.Boolean({ description: "The device's protocol wraps the text. Unset: false." })),
    delaySeconds: Type.Optional(
      Type.Number({ minimum: 0, maximum: longestDelay, description: "Time from the alert to the command. Unset: 0." }),
    ),
  },
  { documented: commandForms },
);

const shared = Type.Object({
  name: GivenName(),
  enabled: Type.Optional(Type.Boolean({ description: "Unset: true." })),
  devices: Type.Optional(ids(mostDevices, "Ids of the devices that it watches.")),
  groups: Type.Optional(ids(mostGroups, "Ids of the groups whose devices it watches.")),
  schedule: Type.Optional(
    Type.Unsafe<Static<typeof schedule> | null>({
      ...schedule,
      type: ["object", "null"],
      description: "When the rule is in force. Unset: always.",
    }),
  ),
  conditions: Type.Optional(
    Type.Array(condition, { maxItems: mostConditions, description: "What else must be true, all of it." }),
  ),
  hysteresis: Type.Optional(hysteresis),
  channels: Type.Optional(channels),
  commands: Type.Optional(
    Type.Array(command, {
      maxItems: mostCommands,
      description:
        "Sent to the device in the name of the user who last changed the rule. That user needs `sendCommands`, or `sendSmsCommands` for commands by SMS.",
    }),
  ),
  critical: Type.Optional(Type.Boolean({ description: "Unset: false." })),
  text: Type.Optional(
    GivenTextOrNull({
      maxLength: longestText,
      description: "Own text, with placeholders such as `{{DeviceName}}`. Unset: the service's.",
      examples: ["{{DeviceName}}: {{AlertText}}"],
      documented: { pattern: notBlank },
    }),
  ),
  notifyWhenOver: Type.Optional(Type.Boolean({ description: "The end is another alert. Unset: false." })),
  notifyOnlyWhenOver: Type.Optional(
    Type.Boolean({ description: "The end is another alert, and people are told of the end only. Unset: false." }),
  ),
});

/** What a body of a rule sets. */
export type AlertRuleBody = Static<typeof shared> & GivenTrigger;

const type = Type.Unsafe<AlertType>({
  type: "string",
  enum: [...alertTypes],
  description: "What the rule looks for; `parameters` belong to it.",
});

const branches = Object.entries(parameterSchemas).map(([name, parameters]) => ({
  type: "object",
  title: name,
  properties: { type: { type: "string", enum: [name] }, parameters },
  required: (parameters.required ?? []).length === 0 ? ["type"] : ["type", "parameters"],
}));

const settableExample = {
  name: "Speed",
  enabled: true,
  type: "speedOver",
  parameters: { kmh: 80 },
  devices: ["490154203237518"],
  groups: [],
  schedule: null,
  conditions: [{ attribute: "ignition", operator: "equal", value: true }],
  hysteresis: { holdSeconds: 10, rearmAt: 75, cooldownSeconds: 300 },
  channels: {
    email: [{ to: "ana@example.com", language: "es", timeZone: null, units: "metric" }],
    sms: [],
    webhook: [],
    telegram: [],
  },
  commands: [],
  critical: false,
  text: null,
  notifyWhenOver: true,
  notifyOnlyWhenOver: false,
};

/** It names a device or a group. */
const watching = ["devices", "groups"].map((field) => ({
  properties: { [field]: { minItems: 1 } },
  required: [field],
}));

function bodySchema<T>(properties: object, examples: readonly unknown[], documented: object = {}) {
  return Type.Unsafe<T>({
    type: "object",
    properties: { ...shared.properties, type, ...properties },
    required: ["name", "type"],
    discriminator: { propertyName: "type" },
    oneOf: branches,
    examples,
    documented,
  });
}

/**
 * Body of POST /api/alertRules and PUT /api/alertRules/{ruleId}, and what the result of a PATCH must be. It resets what
 * it leaves out.
 */
export const AlertRuleBody = bodySchema<AlertRuleBody>({}, [settableExample], { anyOf: watching });

/** Names of the fields that a caller may set. */
export const settableRuleFields: readonly string[] = [...Object.keys(shared.properties), "type", "parameters"];

const viewed = {
  id: Type.String({ description: "Given by the service." }),
  name: Type.String(),
  enabled: Type.Boolean(),
  type,
  parameters: Type.Unsafe<{ readonly [name: string]: unknown }>({
    type: "object",
    additionalProperties: true,
    description: "As in the body.",
  }),
  devices: Type.Array(Type.String()),
  groups: Type.Array(Type.String()),
  schedule: Type.Unsafe<{
    readonly days: readonly Weekday[];
    readonly from: string;
    readonly to: string;
    readonly timeZone: string | null;
  } | null>({ ...schedule, type: ["object", "null"] }),
  conditions: Type.Array(condition),
  hysteresis,
  channels,
  commands: Type.Array(command),
  critical: Type.Boolean(),
  text: NullableText(),
  notifyWhenOver: Type.Boolean(),
  notifyOnlyWhenOver: Type.Boolean(),
  creation: Instant(),
  modification: Instant(),
  mute: MuteOrNull,
  problems: Type.Array(Type.String(), {
    description: "Why it can't do all that it should: what of what it refers to is gone.",
  }),
};

const example = {
  id: "019ab304-0b7e-7a3c-b0c9-54e7a1d2f001",
  ...settableExample,
  creation: "2026-11-21T08:00:00.000Z",
  modification: "2026-11-21T10:29:00.000Z",
  mute: null,
  problems: [],
};

/** A rule as answers show it: nothing is left out, and secrets of webhooks are null. */
export const AlertRuleView = Type.Object(viewed, {
  $id: "AlertRule",
  description: "A rule that watches devices.",
  examples: [example],
});
export type AlertRuleView = Static<typeof AlertRuleView>;

/** Path of every call to one rule. */
export const AlertRulePath = Type.Object({ ruleId: PathId({ examples: [example.id] }) });
/** Answer with one rule: its fields stand beside the envelope. */
export const AlertRuleAnswer = success(viewed, {
  examples: [{ success: true, error: null, apiUsage: 7, apiDailyUsage: 7, ...example }],
});
/** Answer of GET alertRules: those that the caller may see. */
export const AlertRulesAnswer = success(listed("rules", Type.Array(reference<AlertRuleView>("AlertRule"))));

/** Body of POST /api/alertRules/{ruleId}/copy: what the copy watches. */
export const CopyRequest = Type.Object(
  { devices: shared.properties.devices, groups: shared.properties.groups },
  { documented: { anyOf: watching }, examples: [{ devices: ["490154203237526"], groups: [] }] },
);
export type CopyRequest = Static<typeof CopyRequest>;

/** A rule of a replacement of all that watch one device alone; `id` names one of those that are there. */
export type DeviceRuleBody = AlertRuleBody & { readonly id?: string };

const { devices: _devices, ...deviceRule } = settableExample;

/** Body of PUT /api/devices/{deviceId}/alertRules. */
export const DeviceRulesBody = Type.Object(
  {
    rules: Type.Array(
      bodySchema<DeviceRuleBody>(
        {
          id: GivenText({ maxLength: 64, description: "Of a rule that this one replaces. Unset: it is a new one." }),
        },
        [deviceRule],
      ),
      { maxItems: mostOfDevice, description: "Their `devices` and `groups` may be left out." },
    ),
  },
  { examples: [{ rules: [deviceRule] }] },
);
export type DeviceRulesBody = Static<typeof DeviceRulesBody>;
