import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { protocolById } from "../../src/protocols/index.ts";
import { AckedTracker, numberedReport, type Speech, speechOf } from "../support/acked-tracker.ts";
import { crashFleet } from "../support/crash-fleet.ts";
import { until } from "../support/gateway.ts";
import { compareTracker } from "../support/ledger.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { register } from "../support/service.ts";
import { type Member, SeveralServices } from "../support/several-services.ts";

/** Of so many reports in a row the first few are too fast. */
const perEpisode = 50;

/** A tracker that is too fast again and again. */
function speeding(start: number): Speech {
  const protocol = protocolById("gt06");
  assert.ok(protocol?.simulate);
  const { report } = protocol.simulate;
  return {
    ...speechOf(protocol, start),
    message: (device, index, serial) =>
      report(device, [{ ...numberedReport(start, index), speed: index % perEpisode < 5 ? 100 : 36 }], serial),
  };
}

/** Times at which a tracker was too fast, of the reports below a number. */
const episodes = (start: number, reports: number) =>
  Array.from({ length: Math.ceil(reports / perEpisode) }, (_, episode) =>
    new Date(start + episode * perEpisode * 1000).toISOString(),
  );

interface Page {
  readonly alerts: readonly { readonly deviceId: string; readonly dateTime: string; readonly phase: string }[];
  readonly nextCursor?: string | null;
}

/** Times of the alerts that were raised for a device, as a process tells them. */
async function raised(member: Member, device: string): Promise<readonly string[]> {
  const times: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await member.call<Page>("GET", `/api/alerts?device=${device}&limit=1000${cursor}`);
    for (const { phase, dateTime } of page.alerts) if (phase === "raised") times.push(new Date(dateTime).toISOString());
    if (page.nextCursor === undefined || page.nextCursor === null) return times.toSorted();
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}

/** What becomes of one of two processes, and what ends it. */
const troubles: readonly (readonly [
  name: string,
  begin: (member: Member) => Promise<void>,
  end: (member: Member) => Promise<void>,
])[] = [
  ["is killed", (member) => member.kill(), async () => {}],
  [
    "is paused for longer than it is waited for",
    async (member) => member.pause(),
    async (member) => {
      member.resume();
      await member.ended;
    },
  ],
  [
    "is cut off from the database",
    async (member) => {
      member.isCutOff = true;
    },
    async (member) => {
      member.isCutOff = false;
      await member.ended;
    },
  ],
];

describe("one of two processes under load", { skip: noPostgres, timeout: 600_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start({ settings: [["max_connections", "100"]] });
  });

  for (const [name, begin, end] of troubles)
    it(`${name}: nothing acknowledged is lost or doubled, and the other goes on`, async (context) => {
      const services = await SeveralServices.start(context, server, 2);
      const [stays, goes] = [services.of(0), services.of(1)];
      const began = Date.now();
      const start = Math.floor(began / 1000) * 1000 - 5 * 86_400_000;
      const fleet = crashFleet();
      const fast = Array.from({ length: 6 }, (_, index) => new AckedTracker(`35299100000000${index}`, speeding(start)));
      const trackers = [...fleet, ...fast];
      await register(
        stays.service,
        trackers.map(({ device }) => device),
      );
      const devices = fast.map(({ device }) => device);
      const rule = { name: "Fast", type: "speedOver", parameters: { kmh: 80 }, devices };
      await stays.call("POST", "/api/alertRules", rule);
      // Until all know the rule.
      await pause(1500);
      let connects = true;
      const connect = (tracker: AckedTracker, member: Member) =>
        tracker.run(member.service.devicePort, () => setTimeout(() => connects && connect(tracker, stays), 100));
      for (const [index, tracker] of trackers.entries()) connect(tracker, index % 2 === 0 ? stays : goes);
      await until(() => trackers.every(({ acked }) => acked > 100));
      await begin(goes);
      // What it has not acknowledged goes to the other.
      for (const [index, tracker] of trackers.entries())
        if (index % 2 === 1) {
          tracker.drop();
          if (tracker.repeats) connect(tracker, stays);
        }
      await until(async () => (await services.query("select from process")).length === 1);
      const acked = trackers.map((tracker) => tracker.acked);
      await until(() => trackers.every((tracker, index) => tracker.acked > (acked[index] ?? 0) + 50));
      await end(goes);
      await pause(1000);
      connects = false;
      for (const tracker of trackers) tracker.drop();
      await pause(50);
      let records = 0;
      for (const tracker of fleet) records += await compareTracker(stays.service, tracker, { began });
      for (const tracker of fast) {
        const told = () => raised(stays, tracker.device);
        await until(async () => (await told()).length >= episodes(start, tracker.acked).length);
        const times = await told();
        // The report in flight may be stored, too.
        assert.deepEqual(
          times,
          episodes(start, times.length === episodes(start, tracker.acked).length ? tracker.acked : tracker.sent),
        );
      }
      context.diagnostic(`${records} stored records compared with what was acknowledged`);
      const twice = await services.query(
        "select device, rule, time, phase from alert group by device, rule, time, phase having count(*) > 1",
      );
      assert.deepEqual(twice, []);
      assert.equal(await stays.stop(), 0);
    });
});
