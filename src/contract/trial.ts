import Type, { type Static } from "typebox";
import { Alert } from "./alert.ts";
import { AlertRuleBody } from "./alert-rule.ts";
import { GivenText, Instant } from "./schema.ts";

const example = {
  deviceId: "490154203237518",
  from: "2026-11-01T00:00:00Z",
  to: "2026-11-21T00:00:00Z",
  rule: { name: "Speed", type: "speedOver", parameters: { kmh: 80 } },
};

/** Body of POST /api/alertRules/try. */
export const TrialRequest = Type.Object(
  {
    deviceId: GivenText({ description: "Over whose history the rule is run." }),
    from: Instant(),
    to: Instant(),
    rule: Type.Optional(
      Type.Unsafe<AlertRuleBody>({
        ...AlertRuleBody,
        examples: [example.rule],
        description: "The rule to try; what it would watch, tell and send is not looked at.",
      }),
    ),
    ruleId: Type.Optional(GivenText({ description: "Or the id of one that is there." })),
  },
  {
    examples: [example],
    documented: { oneOf: [{ required: ["rule"] }, { required: ["ruleId"] }] },
  },
);
export type TrialRequest = Static<typeof TrialRequest>;

const counters = { apiUsage: Type.Integer({ minimum: 0 }), apiDailyUsage: Type.Integer({ minimum: 0 }) };

/** One line of the answer to it. */
export const TrialLine = Type.Union([
  Type.Object({
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    positions: Type.Integer({ description: "Looked at so far." }),
  }),
  Type.Object({ alert: Type.Object(Alert.properties) }),
  Type.Object({
    done: Type.Literal(true),
    success: Type.Literal(true),
    error: Type.Null(),
    ...counters,
    alerts: Type.Integer(),
    positions: Type.Integer(),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
  Type.Object({ success: Type.Literal(false), error: Type.String(), ...counters }),
]);
export type TrialLine = Static<typeof TrialLine>;
