import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";

const flipped = (column: string, at: number) => `set_byte(${column}, ${at}, get_byte(${column}, ${at}) # 1)`;
const second = "(select seq from block where device = $1 order by first offset 1 limit 1)";
const newest = "(select max(seq) from tail where device = $1)";
/** Changes an octet of a packed row. */
const ofPacked = (at: number, value: number, more = "") =>
  `update tail set data = set_byte(data, ${at}, ${value})${more} where seq = ${newest} and substring(data, 1, 4) = '\\xffffffff'`;

/** What is done to the rows of one device, and whether its history or its state shows it. */
const damages: readonly (readonly [what: string, sql: string, shows: "history" | "state"])[] = [
  ["a bit of a block", `update block_data set data = ${flipped("data", 200)} where seq = ${second}`, "history"],
  ["a block whose bytes are gone", `delete from block_data where seq = ${second}`, "history"],
  ["a digit of a block's sums", `update block set odometer_mm = odometer_mm + 8 where seq = ${second}`, "history"],
  ["a bit of a row of the tail", `update tail set data = ${flipped("data", 60)} where seq = ${newest}`, "history"],
  ["the mark of a packed row", ofPacked(1, 0xfe), "history"],
  ["a digit of the length in a packed row", ofPacked(8, 0x31), "history"],
  ["what is no digit in the length in a packed row", ofPacked(8, 0xc3), "history"],
  ["a bit of a packed row without a checksum", ofPacked(13, 0x55, ", crc = null"), "history"],
  ["a digit of a row of the tail", `update tail set count = count + 1 where seq = ${newest}`, "history"],
  ["a bit of what late reports add", `update shifts set data = ${flipped("data", 30)} where device = $1`, "history"],
  ["a row of what late reports add", "delete from shifts where device = $1", "history"],
  ["a bit of what late reports change", `update patch set data = ${flipped("data", 30)} where device = $1`, "history"],
  ["a bit of the state", `update device_state set data = ${flipped("data", 20)} where device = $1`, "state"],
];

describe("damage in PostgreSQL costs its device alone and is told as such", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  for (const [what, sql, shows] of damages)
    it(what, async (context) => {
      const url = await server.database();
      const world = new World(url, openPostgres);
      await world.start();
      context.after(() => world.stop());
      const account = await makeAccount(world.store);
      const devices = [await makeDevice(world.store, account.key), await makeDevice(world.store, account.key)];
      const [damaged, other] = devices;
      assert.ok(damaged && other);
      const fixes = drive(chance(3), 1600);
      // Some come late, to sealed history: their sums and new totals wait beside the blocks.
      const late = fixes.filter((_, index) => index % 97 === 5 && index < 1500);
      const sealed = fixes.slice(0, 1550).filter((fix) => !late.includes(fix));
      for (const { id, key } of devices) {
        const admitted = await world.admitted(id);
        await world.deliver(admitted, sealed);
        await world.store.seal(key);
        await world.deliver(admitted, late);
        await world.deliver(admitted, fixes.slice(1550));
      }
      await world.stop();
      const changed = await server.ask(
        new URL(url).pathname.slice(1),
        `${sql.replaceAll("$1", String(damaged.key))} returning 1`,
      );
      assert.ok(changed.length > 0, "something was changed");
      await world.start();
      const isTold = (error: unknown) => {
        assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged", String(error));
        assert.ok(error.message.includes(`device ${damaged.key}`), error.message);
        return true;
      };
      const asked = shows === "history" ? world.history(damaged.key) : world.store.locations.states([damaged.key]);
      await assert.rejects(asked, isTold);
      await world.compare(other.key, [...sealed, ...late, ...fixes.slice(1550)], "of the other device");
      const admitted = await world.admitted(other.id);
      const more = drive(chance(4), 40);
      await world.deliver(
        admitted,
        more.map((fix) => ({ ...fix, time: fix.time + 86_400_000 })),
      );
      await world.store.seal(other.key);
      await world.store.check();
    });
});
