import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { newAlert, newNotice } from "../contract/store/alert-values.ts";
import {
  deviceFields,
  makeAccount,
  makeDevice,
  makeUser,
  newCommand,
  now,
  today,
  unique,
} from "../contract/store/harness.ts";
import { reader } from "../support/concurrent-acts.ts";
import { noPostgres } from "../support/postgres.ts";
import { PostgresPair } from "../support/postgres-pair.ts";

describe("two PostgreSQL stores on one database", { skip: noPostgres }, () => {
  let pair: PostgresPair;
  before(async () => {
    pair = await PostgresPair.open();
  });

  it("claim each notice once, and give each place back once", async () => {
    const account = await makeAccount(pair.of(0));
    const device = await makeDevice(pair.of(0), account.key);
    const alert = newAlert(device.key, 1);
    const made = Array.from({ length: 40 }, () =>
      newNotice(alert, { target: { channel: "sms", to: "+573001112233", ...reader } }),
    );
    await pair.addAlert(alert, made);
    const { notices } = await pair.of(0).notices.due("sms", now, { limit: 100 });
    const keys = notices.map(({ key }) => key);
    assert.equal(keys.length, 40);
    const places = { day: today, limit: 30 };
    const claims = await Promise.all(
      keys.flatMap((key) => [0, 1, 2].map((index) => pair.of(index).notices.claim(key, now, places))),
    );
    const count = (answer: string) => claims.filter((one) => one === answer).length;
    assert.deepEqual([count("claimed"), count("limit"), count("gone")], [30, 10, 80]);
    assert.deepEqual(await pair.of(1).daily.sent(device.key, today), { sms: 30, email: 0 });
    const failed = { state: "failed", reason: "no", peerId: null, dueAt: 0 } as const;
    await Promise.all(keys.flatMap((key) => [0, 1].map((index) => pair.of(index).notices.finish(key, failed, now))));
    assert.deepEqual(await pair.of(1).daily.sent(device.key, today), { sms: 0, email: 0 });
    assert.deepEqual(await pair.of(1).daily.sentOfAccount(account.key, today), { sms: 0, email: 0 });
  });

  it("claim webhooks in groups, each once, while others end", async () => {
    const account = await makeAccount(pair.of(0));
    const device = await makeDevice(pair.of(0), account.key);
    const alert = newAlert(device.key, 1);
    await pair.addAlert(
      alert,
      Array.from({ length: 200 }, () => newNotice(alert)),
    );
    const { notices } = await pair.of(0).notices.due(newNotice(alert).target.channel, now, { limit: 1000 });
    const keys = notices.filter((notice) => notice.device === device.key).map(({ key }) => key);
    const sent = { state: "sent", reason: null, peerId: null, dueAt: 0 } as const;
    const worked = await Promise.all(
      [keys, keys.toReversed()].map(async (order, index) => {
        const claimed = await Promise.all(
          order.map(async (key) => {
            if ((await pair.of(index).notices.claim(key, now, undefined)) !== "claimed") return 0;
            await pair.of(index).notices.finish(key, sent, now);
            return 1;
          }),
        );
        return claimed.reduce<number>((sum, one) => sum + one, 0);
      }),
    );
    assert.equal((worked[0] ?? 0) + (worked[1] ?? 0), 200);
    const left = await pair.of(1).notices.list(device.key, { limit: 1000 });
    assert.ok(left.every(({ state, attempts }) => state === "sent" && attempts === 1));
  });

  it("remove devices and users in the midst of everything, and leave nothing of them", async () => {
    const account = await makeAccount(pair.of(0), 100_000);
    for (let round = 0; round < 25; round++) {
      const device = await makeDevice(pair.of(0), account.key, { aliases: [unique("alias-")] });
      const user = await makeUser(pair.of(0), account.key);
      const [one, two] = [pair.of(round), pair.of(round + 1)];
      const taken = { device: 10, account: 1e9 };
      const work = [
        () => one.devices.replace(device.key, deviceFields({ id: device.id, aliases: [unique("alias-")] }), now),
        () => two.daily.take(device.key, today, "sms", taken),
        () => one.commands.create(newCommand(device.key)),
        () =>
          two.users.addUsage(
            [{ userKey: user.key, day: today, requests: 1 }],
            [{ device: device.key, day: today, results: 1 }],
          ),
        () => one.users.foldUsage("2027-01-01", user.key - 1, 1),
        () =>
          two.devices.spoke([
            {
              device: device.key,
              way: { protocol: "p", transport: "tcp", since: 1, address: "", trustedAt: null, networks: [] },
            },
          ]),
      ];
      const removals = [
        () => two.devices.remove(device.key),
        () => one.devices.remove(device.key),
        () => two.users.remove(user.key),
      ];
      const [, ...answers] = await Promise.all([
        Promise.all(work.map((each) => each())),
        ...removals.map((each) => each()),
      ]);
      assert.deepEqual(answers.slice(0, 2).toSorted(), [false, true]);
      assert.equal(answers[2], true);
      assert.equal(await pair.of(0).devices.identify([device.id, ...device.aliases]), undefined);
    }
    await pair.assertNoFaults();
  });

  it("delete refused reports once, and know how much is left", async () => {
    const account = await makeAccount(pair.of(0));
    const devices = await Promise.all(Array.from({ length: 5 }, () => makeDevice(pair.of(0), account.key)));
    const { tables } = pair.of(0);
    const text = "x".repeat(100);
    for (const { key: device } of devices) {
      const rows = Array.from({ length: 40 }, (_, time) => ({
        device,
        received_at: time,
        time,
        cause: "past",
        report: text,
      }));
      await tables.insertInto("refused").values(rows).execute();
      await tables
        .insertInto("refused_room")
        .values({ device, bytes: 4000, dropped: 0, dropped_until: null })
        .execute();
    }
    let deleted = 0;
    while (deleted < 100) {
      const steps = await Promise.all([0, 1, 2, 3].map((index) => pair.of(index).refused.prune(20, 15)));
      deleted += steps.reduce((sum, one) => sum + one, 0);
    }
    assert.equal(deleted, 100);
    const room = await tables.selectFrom("refused_room").select("bytes").execute();
    assert.deepEqual(
      room.map(({ bytes }) => bytes),
      devices.map(() => 2000),
    );
  });
});
