import { atEnd } from "../../../test/support/at-end.ts";
import { noPostgres, PostgresServer } from "../../../test/support/postgres.ts";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import type { Fault, Served } from "../fault.ts";
import { run } from "../machine.ts";
import { fill, noMount } from "./full-disk.ts";
import { killIngest } from "./kills.ts";
import { pause } from "./pauses.ts";

/** For how long the server is gone, or its disk full, at most, ms. */
const awayMs = 3000;
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
  // The server's own user must come through.
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
      await scene.server.stop(scene.random() < 0.5 ? "killed" : "immediate");
      scene.count("kills of the server");
      if (round % 2 === 1) await scene.kill();
      else await scene.wait(awayMs);
      await scene.server.run();
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
      const { server, service } = scene;
      const empty = fill(server.directory, 0);
      await scene.wait(awayMs);
      scene.must(service.child.exitCode === null, "the service goes on while the server's disk is full");
      empty();
      scene.count("times full");
      await server.stop("immediate");
      await server.run();
      await scene.allAcknowledged();
    }
  },
};

/** What befalls a service that stores on PostgreSQL, and its server. */
export const onPostgres: readonly Fault[] = [
  { ...killIngest, name: "postgres-kill-service", does: `on PostgreSQL: ${killIngest.does}`, impossible, serve },
  { ...pause, name: "postgres-pause-service", does: `on PostgreSQL: ${pause.does}`, impossible, serve },
  killServer,
  fullServer,
];
