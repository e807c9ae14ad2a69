import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { crashFleet } from "../support/crash-fleet.ts";
import { until } from "../support/gateway.ts";
import { compareTracker } from "../support/ledger.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { anyPorts, dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

describe("waybeam serve on PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start({ fsync: true });
  });
  const folderFor = (context: TestContext) => {
    const directory = dataFolder();
    context.after(() => removeFolder(directory));
    return directory;
  };

  it("keeps what trackers were told is stored, whole and once, whatever is killed", async (context) => {
    const directory = folderFor(context);
    const environment = { WAYBEAM_STORE_URL: await server.database() };
    let service: Service | undefined;
    context.after(() => service?.kill());
    const began = Date.now();
    const trackers = crashFleet();
    let connects = true;
    /** Trackers that connect again after the service has refused a report or closed their connection. */
    const run = (port: number) => {
      connects = true;
      for (const tracker of trackers) {
        const connect = () => tracker.run(port, () => setTimeout(() => connects && connect(), 100));
        connect();
      }
    };
    const drop = () => {
      connects = false;
      for (const tracker of trackers) tracker.drop();
    };
    context.after(drop);
    /** Waits until the service goes on by itself after the server was away: its trackers get answers again. */
    const untilAcknowledged = async () => {
      const before = trackers.map(({ acked }) => acked);
      await until(() => trackers.every(({ acked }, index) => acked > (before[index] ?? 0)));
    };
    const rounds: readonly ((running: Service) => Promise<unknown>)[] = [
      async (running) => running.kill(),
      async (running) => {
        await server.stop("immediate");
        await pause(500);
        await server.run();
        await untilAcknowledged();
        assert.equal(await running.stop(), 0);
      },
      async (running) => {
        await server.stop("killed");
        await server.run();
        await untilAcknowledged();
        await server.stop("killed");
        await running.kill();
        await server.run();
      },
      async (running) => {
        await Promise.all([server.stop("immediate"), pause(Math.random() * 20).then(() => running.kill())]);
        await server.run();
      },
      async (running) => {
        await server.stop("fast");
        await running.kill();
        await server.run();
      },
    ];
    for (const [index, round] of rounds.entries()) {
      service = await startService(directory, environment);
      if (index === 0)
        await register(
          service,
          trackers.map(({ device }) => device),
        );
      run(service.devicePort);
      await pause(2000 + Math.random() * 500);
      await round(service);
      // What the kernel still holds of an acknowledgement counts.
      await pause(50);
      drop();
    }
    service = await startService(directory, environment);
    let records = 0;
    for (const tracker of trackers) {
      assert.ok(tracker.acked > 0, `${tracker.device}: nothing was acknowledged`);
      records += await compareTracker(service, tracker, { began });
    }
    context.diagnostic(`${records} stored records compared with what was acknowledged`);
    assert.equal(await service.stop(), 0);
  });

  it("runs beside another one on the same database with the same key, and with no other", async (context) => {
    const [directory, other] = [folderFor(context), folderFor(context)];
    const environment = { WAYBEAM_STORE_URL: await server.database() };
    const one = await startService(directory, environment);
    context.after(() => one.kill());
    const { waybeam } = commandLine(other);
    const refused = await waybeam(["serve"], "", { ...anyPorts, ...environment });
    assert.equal(refused.code, 1, refused.err);
    assert.match(refused.err, /secret key .* is missing/);
    for (const name of ["secret.key", "credentials.json"]) copyFileSync(join(directory, name), join(other, name));
    const two = await startService(other, environment);
    context.after(() => two.kill());
    await register(one, ["van"]);
    const devices = await fetch(`${two.url}/api/devices`, { headers: { authorization: `Bearer ${one.token}` } });
    assert.match(await devices.text(), /"van"/);
    const rotated = await waybeam(["secret", "rotate"], "", environment);
    assert.equal(rotated.code, 8, rotated.err);
    assert.match(rotated.err, /A service uses the database: waybeam service at 127\.0\.0\.1/);
    assert.deepEqual([await one.stop(), await two.stop()], [0, 0]);
  });

  it("is told what keeps it from starting", async (context) => {
    const url = await server.database();
    const serve = (WAYBEAM_STORE_URL: string) =>
      commandLine(folderFor(context)).waybeam(["serve"], "", { ...anyPorts, WAYBEAM_STORE_URL });
    const nowhere = await serve(url.replace(/[^/]*$/, "nowhere"));
    assert.equal(nowhere.code, 1, nowhere.err);
    assert.match(nowhere.err, /can't use the database:\n {2}The database nowhere at .* can't be reached: .*Create it/s);
    const wrong = await serve("postgresql://127.0.0.1:port/x?sslmode=maybe&colour=red");
    for (const told of ["has the port port", "names no user", "has the sslmode maybe", "unknown parameter colour"])
      assert.ok(wrong.err.includes(told), wrong.err);
  });

  it("says what to use instead of what only the embedded store has", async (context) => {
    const directory = folderFor(context);
    const { waybeam } = commandLine(directory);
    for (const args of [["backup", `${directory}/copy`], ["restore", `${directory}/copy`], ["check"]]) {
      const { code, err } = await waybeam(args, "", { WAYBEAM_STORE_URL: "postgresql://waybeam@127.0.0.1/waybeam" });
      assert.equal(code, 2, err);
      assert.match(err, /for the embedded store.*pg_dump/s);
    }
  });
});
