import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { dataFolder, removeFolder, type Service, startService } from "../support/service.ts";

/** Highest memory of the process over its life until now, MB. */
function peakOf({ child }: Service): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

async function answered(service: Service, route: string): Promise<number> {
  const lines = (await service.metrics()).split("\n");
  const line = lines.find((one) => one.startsWith("waybeam_http_requests_total") && one.includes(`route="${route}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

test("pages that strangers ask for and do not read cost no memory for each", async (t) => {
  const service = await startService(dataFolder());
  t.after(async () => {
    await service.stop();
    removeFolder(service.directory);
  });
  const port = Number(new URL(service.url).port);
  for (const { path, route, times, connections } of [
    { path: "/docs/static/swagger-ui-bundle.js", route: "/docs/*", times: 300, connections: 1 },
    { path: "/openapi.json", route: "/openapi.json", times: 20, connections: 100 },
  ]) {
    assert.equal((await fetch(service.url + path)).status, 200);
    const [before, done] = [peakOf(service), await answered(service, route)];
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const sockets = Array.from({ length: connections }, () => {
      const socket = connect(port, "127.0.0.1", () => socket.write(request.repeat(times)));
      socket.on("error", () => {});
      return socket.pause();
    });
    // Some of each connection are begun; with those before them unread, it stays so.
    let last = done;
    for (let now = done; now === done || now > last; now = await answered(service, route)) {
      last = now;
      await wait(500);
    }
    assert.ok(peakOf(service) < before + 120, `${path}: from ${before} to ${peakOf(service)} MB`);
    for (const socket of sockets) socket.destroy();
  }
});
