import type { Attempt, Scene } from "../attempt.ts";
import { Line, packet, Tracker } from "../peers.ts";
import { many, Tally, wait } from "../tally.ts";

/** Opens connections that ask, all at once, and never read; looks at how many of them the service ends. */
async function neverRead(
  scene: Scene,
  connections: number,
  request: string,
): Promise<{ opened: number; closed: number }> {
  const lines: Line[] = [];
  scene.prepared();
  await many(connections, 20, scene.goesOn, async () => {
    const line = new Line(scene.apiPort, { reads: false });
    line.send(request);
    lines.push(line);
    await wait(5);
  });
  while (scene.goesOn()) await wait(50);
  const closed = lines.filter((line) => line.closed).length;
  for (const line of lines) line.end();
  return { opened: lines.length, closed };
}

/** A request as it goes over the wire. */
function asked(method: string, path: string, token: string, body = ""): string {
  const type = body === "" ? "" : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n${type}\r\n${body}`;
}

/** Lists that a viewer asks for and does not read. */
export const unreadLists: Attempt = {
  name: "unread-lists",
  tries: "a viewer asks for 40 lists of large groups, ten times on each connection, and reads none",
  holds: "memory and the answers of others",
  async run(scene) {
    await many(scene.scale(30, 5), 4, scene.goesOn, (index) => {
      const devices = Array.from({ length: 15_000 }, (_, at) => `${index}-${at}-`.padEnd(60, "x"));
      return scene.attacker.client.ask("POST", "/api/groups", { name: `G${index}`, devices });
    });
    const viewer = await scene.user(["read", "admin"]);
    const { opened, closed } = await neverRead(scene, 40, asked("GET", "/api/groups", viewer).repeat(10));
    return { times: opened * 10, happened: `${closed} of ${opened} connections closed by the service` };
  },
};

/** Histories that are asked for one behind the other and not read. */
export const unreadHistories: Attempt = {
  name: "unread-histories",
  tries: "100 connections ask for 20 long histories each in one piece, and read none",
  holds: "memory and the answers of others",
  async run(scene) {
    const [id = ""] = await scene.devices(1);
    const tracker = await Tracker.login(scene, id);
    const packets = scene.scale(200, 10);
    const start = Date.now() - 3 * 86_400_000;
    for (let index = 0; index < packets; index++) {
      tracker.line.send(packet(100, start + index * 100_000, index * 100));
      await tracker.answeredAll(index + 1);
    }
    tracker.line.end();
    const range = JSON.stringify({ from: new Date(start).toISOString(), to: new Date().toISOString() });
    const one = asked("POST", `/api/devices/${id}/locations`, scene.attacker.token, range);
    const { opened, closed } = await neverRead(scene, scene.scale(100, 20), one.repeat(20));
    return { times: opened * 20, happened: `${closed} of ${opened} connections closed by the service` };
  },
};

/** A tenant that asks for its history as fast as it can, with all its users. */
export const greedyHistories: Attempt = {
  name: "greedy-histories",
  tries: "a tenant asks for long histories as fast as it can, with all its users",
  holds: "it is answered, or refused with 429 or 503",
  async run(scene) {
    const ids = await scene.devices(5);
    const packets = scene.scale(100, 5);
    const start = Date.now() - 3 * 86_400_000;
    for (const id of ids) {
      const tracker = await Tracker.login(scene, id);
      for (let index = 0; index < packets; index++) {
        tracker.line.send(packet(100, start + index * 100_000, index * 100));
        await tracker.answeredAll(index + 1);
      }
      tracker.line.end();
    }
    const tokens = [scene.attacker.token];
    for (let index = 1; index < scene.scale(10, 2); index++) tokens.push(await scene.user(["read", "admin"]));
    scene.prepared();
    const statuses = new Tally();
    const range = JSON.stringify({ from: new Date(start).toISOString(), to: new Date().toISOString() });
    await Promise.all(
      tokens.flatMap((token, user) =>
        Array.from({ length: 10 }, async (_, at) => {
          while (scene.goesOn()) {
            const line = new Line(scene.apiPort);
            line.send(
              asked("POST", `/api/devices/${ids[(user + at) % ids.length]}/locations`, token, range).replace(
                "host: a",
                "host: a\r\nconnection: close",
              ),
            );
            await line.until(() => false, 20_000);
            statuses.add(line.head.slice(9, 12) || "0");
            line.end();
            await wait(20);
          }
        }),
      ),
    );
    scene.must(statuses.besides(200, 429, 503).length === 0, `it is answered, or refused: ${statuses}`);
    return { times: statuses.total, happened: String(statuses) };
  },
};
