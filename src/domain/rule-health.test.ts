import assert from "node:assert/strict";
import { test } from "node:test";
import { ruleFields } from "../../test/contract/store/alert-values.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { createMemoryBus } from "../bus/memory.ts";
import type { AlertRule } from "../model/alert-rule.ts";
import type { Metrics } from "../ports/metrics.ts";
import { RuleHealth } from "./rule-health.ts";

const rule = (key: number, enabled = true): AlertRule => ({
  ...ruleFields({ enabled }),
  key,
  id: `r${key}`,
  accountKey: 1,
  revision: 1,
  userKey: 1,
  creation: 0,
  modification: 0,
});

test("enabled rules with problems are counted, and again when something changed", async () => {
  let read = () => -1;
  const metrics: Pick<Metrics, "gauge"> = {
    gauge: (_name, _help, value) => {
      read = value;
    },
  };
  const bus = createMemoryBus((error) => {
    throw error;
  });
  let lost = new Set(["r1", "r3"]);
  let down = false;
  const health = new RuleHealth({
    store: {
      alertRules: {
        accounts: async () => {
          if (down) throw new Error("down");
          return [1];
        },
        list: async () => [rule(1), rule(2), rule(3, false)],
      },
    },
    references: { problems: async (_account, rules) => rules.map(({ id }) => (lost.has(id) ? ["gone"] : [])) },
    bus,
    log: silentLog,
    metrics: {
      ...metrics,
      counter: () => () => ({ add() {} }),
      histogram: () => () => ({ observe() {} }),
      total: () => {},
    },
  });
  health.start();
  await health.count();
  assert.equal(read(), 1);
  lost = new Set(["r1", "r2"]);
  await health.count();
  assert.equal(read(), 1);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 5, id: "d" });
  await health.count();
  assert.equal(read(), 2);
  lost = new Set();
  down = true;
  bus.publish({ type: "userChanged", accountKey: 1, key: 3 });
  await health.count();
  down = false;
  await health.count();
  assert.equal(read(), 0);
  await health.stop();
});
