import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkRule, RuleTrial } from "../../src/alerts/index.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { defaultLimits } from "../../src/http/limits.ts";
import { createHttp } from "../../src/http/server.ts";
import {
  createLog,
  createMetrics,
  createQuarantine,
  createTrace,
  systemClock,
  systemIds,
} from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { summaryOf } from "./api-summary.ts";
import type { Generator } from "./generator.ts";

/**
 * What `/openapi.json` says in short, so that a review sees what a change means for clients: each call on a line, and each schema and parameter on a line. A running service
 * gives the whole document; here the HTTP side is built over an empty store, and nothing listens.
 */
export const openApi: Generator = {
  file: "docs/generated/api-calls.md",
  async render() {
    const log = createLog("silent");
    const directory = await mkdtemp(join(tmpdir(), "waybeam-openapi-"));
    try {
      const store = await openSqliteStore({ directory, log, pid: process.pid });
      try {
        return summaryOf(await documentOver({ store, log }));
      } finally {
        await store.close();
      }
    } finally {
      await rm(directory, { recursive: true });
    }
  },
};

async function documentOver(parts: Pick<Parameters<typeof createHttp>[1], "store" | "log">): Promise<object> {
  const http = await createHttp(
    { host: "localhost", port: 0, trustProxy: "", limits: defaultLimits },
    {
      ...parts,
      bus: createMemoryBus((error) => {
        throw error;
      }),
      clock: systemClock,
      ids: systemIds,
      metrics: createMetrics({ processMetrics: false }),
      quarantine: createQuarantine(systemClock),
      trace: createTrace(systemClock),
      letters: { send: () => {} },
      positionKeeper: { keptFrom: () => undefined },
      setAsides: { setAside: () => undefined },
      caps: { dailyEmails: 1, dailySms: 1, deviceDailyEmails: 1, deviceDailySms: 1, identifiersPerLicense: 1 },
      asking: { parts: () => undefined, send: async () => ({ outcome: "refused", reason: "" }) },
      codeLimits: { codesToAddress: 1, codesOfAccount: 1, perAccount: 1 },
      resends: { ofNotice: 1, perMinute: 1 },
      dispatcher: { dispatch: async () => ({ outcome: "notConnected" }), onReachable: () => {} },
      presence: { lastSeen: () => undefined },
      checkAlertRule: checkRule,
      alertRuleNeeds: () => [],
      checkWebhook: () => undefined,
      checkTemplate: () => [],
      alertTrial: new RuleTrial({
        geofences: parts.store.geofences,
        accounts: parts.store.accounts,
        locations: parts.store.locations,
        clock: systemClock,
        ids: systemIds,
      }),
      operatorKeyHash: "",
      requireEncryptedPasswords: false,
      lastLocations: { lastLocation: () => undefined },
      readiness: async () => ({ ready: true, checks: {} }),
    },
  );
  const document = await http.openApi();
  await http.stop();
  return document;
}
