import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { call, dataFolder, removeFolder, type Service, startService } from "../support/service.ts";

/** Resident memory of a process, MB. */
function memoryOf({ child }: Service): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

/** Highest memory of a process over its life until now, MB. */
function peakOf({ child }: Service): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

/** A client that sends its requests at once and never reads. */
function deaf(service: Service, requests: string): Socket {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1", () => socket.write(requests));
  socket.pause();
  socket.on("error", () => {});
  return socket;
}

function get(service: Service, path: string, token = service.token): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    // A socket that is not read does not hear of its end: only its errors and writes tell.
    socket.once("close", () => resolve());
    setInterval(() => socket.write("x"), 200).unref();
  });
}

/** Another account with an owner; gives the owner's token. */
async function otherToken(service: Service): Promise<string> {
  const { operatorKey } = JSON.parse(readFileSync(`${service.directory}/credentials.json`, "utf8"));
  const place = { timeZone: "America/Bogota" };
  const made = await fetch(`${service.url}/api/admin/accounts`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ name: "Other", licenses: 10, ...place },
      owner: { name: "Eva", email: "eva@example.com", country: "CO", ...place },
    }),
  });
  const { owner } = (await made.json()) as { owner: { email: string; apiKey: string } };
  const asked = await fetch(`${service.url}/api/Auth/Token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userName: owner.email, apiKey: owner.apiKey }),
  });
  return ((await asked.json()) as { token: string }).token;
}

describe("answers that nobody reads", () => {
  const directory = dataFolder();
  let service: Service;
  let other: string;
  const sockets: Socket[] = [];

  before(async () => {
    service = await startService(directory, { WAYBEAM_ANSWERS_UNREAD_SECONDS: "2" });
    other = await otherToken(service);
    const devices = Array.from({ length: 14_000 }, (_, index) => `device-${"x".repeat(40)}-${index}`);
    for (let index = 0; index < 40; index++)
      await call(service, "POST", "/api/groups", { name: `Group ${index}`, devices });
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await service.stop();
    removeFolder(directory);
  });

  test("cost a bounded piece of memory, are ended, and another account is answered meanwhile", async () => {
    const start = memoryOf(service);
    for (let index = 0; index < 40; index++) sockets.push(deaf(service, get(service, "/api/groups").repeat(10)));
    for (let round = 0; round < 20; round++) {
      const answer = await fetch(`${service.url}/api/devices`, { headers: { authorization: `Bearer ${other}` } });
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const peak = peakOf(service);
    assert.ok(peak < 900, `${peak} MB, ${start} MB before`);
    await Promise.all(sockets.map(closed));
    // What they held is free again.
    const answer = await fetch(`${service.url}/api/account`, { headers: { authorization: `Bearer ${service.token}` } });
    assert.equal(answer.status, 200);
  });
});
