import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { atEnd } from "../../../test/support/at-end.ts";
import { noPostgres, PostgresServer } from "../../../test/support/postgres.ts";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import { CutDisk, noCut } from "../cut-disk.ts";
import type { Fault, Served } from "../fault.ts";
import { run } from "../machine.ts";
import { fill, isReady, noMount } from "./full-disk.ts";
import { killIngest } from "./kills.ts";
import { pause } from "./pauses.ts";

/** For how long the server is gone, or its disk full, at most, ms. */
const awayMs = 3000;
/** How long a full disk may go unnoticed, ms: small rows still fit into pages with room. */
const unnoticedMs = 30_000;
/** What a server with some days of trackers takes, and room for its log, bytes. */
const diskBytes = 400 * 1024 * 1024;

const impossible = () => noPostgres || undefined;

/** The server writes through to its disk, as in earnest. */
async function serve(folder?: string): Promise<Served> {
  const server = await PostgresServer.start({ fsync: true, ...(folder !== undefined && { folder }) });
  return { server, dispose: () => server.dispose() };
}

async function serveOnSmallDisk(): Promise<Served> {
  const disk = dataFolder();
  // The server's own user must be able to enter.
  run("mount", "-t", "tmpfs", "-o", `size=${diskBytes},mode=755`, "tmpfs", disk);
  const unmount = () => void run("umount", disk);
  const forget = atEnd(unmount);
  const { server, dispose } = await serve(disk);
  return {
    server,
    async dispose() {
      await dispose();
      unmount();
      forget();
      removeFolder(disk);
    },
  };
}

async function serveOnCutDisk(): Promise<Served> {
  const disk = new CutDisk(diskBytes);
  const { server, dispose } = await serve(disk.mounted).catch((error) => {
    disk.close();
    throw error;
  });
  // `initdb` ran with --no-sync.
  run("sync", "-f", disk.mounted);
  return {
    server,
    disk,
    async dispose() {
      await dispose();
      disk.close();
    },
  };
}

const powerCut: Fault = {
  name: "postgres-power-cut",
  does: "on PostgreSQL: the power of the server's machine is cut while trackers report, and what it had not synced is lost; every other time the service is killed, too",
  holds: "every tracker is acknowledged again, without a restart",
  impossible: () => impossible() ?? noCut(),
  serve: serveOnCutDisk,
  run: async (scene) => {
    for (let round = 0; round < scene.rounds; round++) {
      await scene.start();
      await scene.report();
      const { server, disk } = scene.served;
      if (disk === undefined) throw new Error("the server has no disk of its own");
      const witness = join(disk.mounted, "witness");
      writeFileSync(witness, Buffer.alloc(65_536, 1));
      disk.cut();
      if (round % 2 === 1) await scene.kill();
      await server.stop("killed");
      disk.unmount();
      disk.mount();
      const kept = existsSync(witness) && readFileSync(witness).includes(1);
      scene.must(!kept, "what was not synced is lost");
      rmSync(witness, { force: true });
      scene.count("power cuts");
      await server.run();
      if (round % 2 === 1) await scene.start();
      await scene.allAcknowledged();
    }
  },
};

const killServer: Fault = {
  name: "postgres-kill-server",
  does: "on PostgreSQL: the server crashes, or all of its processes are killed, while trackers report, and starts again; every other time the service is killed meanwhile",
  holds: "every tracker is acknowledged again, without a restart",
  impossible,
  serve,
  run: async (scene) => {
    for (let round = 0; round < scene.rounds; round++) {
      await scene.start();
      await scene.report();
      await scene.served.server.stop(scene.random() < 0.5 ? "killed" : "immediate");
      scene.count("kills of the server");
      if (round % 2 === 1) await scene.kill();
      else await scene.wait(awayMs);
      await scene.served.server.run();
      if (round % 2 === 1) await scene.start();
      await scene.allAcknowledged();
    }
  },
};

const fullServer: Fault = {
  name: "postgres-full-disk",
  does: "on PostgreSQL: the server's disk fills while trackers report, and has room again; the server starts again where it has ended",
  holds: "every tracker is acknowledged again, without a restart of the service",
  impossible: () => impossible() ?? noMount(),
  serve: serveOnSmallDisk,
  run: async (scene) => {
    for (let round = 0; round < scene.rounds; round++) {
      await scene.start();
      await scene.report();
      const { service } = scene;
      const { server } = scene.served;
      const empty = fill(server.directory, 0);
      let isFull = false;
      for (const end = performance.now() + unnoticedMs; !isFull && performance.now() < end; await sleep(50))
        isFull = !(await isReady(scene));
      scene.must(isFull, "the service says that the server can't store");
      await scene.wait(awayMs);
      scene.must(service.child.exitCode === null, "the service goes on while the server's disk is full");
      empty();
      scene.count("times full");
      if (!server.isRunning) {
        scene.count("ends of the server");
        await server.stop();
        await server.run();
      }
      await scene.allAcknowledged();
    }
  },
};

/** What befalls a service that stores on PostgreSQL, and its server. */
export const onPostgres: readonly Fault[] = [
  { ...killIngest, name: "postgres-kill-service", does: `on PostgreSQL: ${killIngest.does}`, impossible, serve },
  { ...pause, name: "postgres-pause-service", does: `on PostgreSQL: ${pause.does}`, impossible, serve },
  killServer,
  powerCut,
  fullServer,
];
