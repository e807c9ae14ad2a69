import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Attempt } from "../attempt.ts";
import { Line, packet, patienceMs, report, Tracker } from "../peers.ts";

const pageSize = 4096;

/** Damages the pages by which rows of `device_head` go on: each is of one device. Gives how many. */
function damage(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("select data from device_head").all();
  database.close();
  const held = Buffer.concat(rows.flatMap(({ data }) => (data instanceof Uint8Array ? data : [])));
  const bytes = readFileSync(file);
  let pages = 0;
  for (let at = 0; at < bytes.length; at += pageSize) {
    // Such a page has four bytes of its own, the number of the next.
    if (!held.includes(bytes.subarray(at + 100, at + pageSize - 100))) continue;
    bytes.fill(0xff, at, at + pageSize);
    pages++;
  }
  writeFileSync(file, bytes);
  return pages;
}

/** Pages of one device, of how far it is followed, that the disk gives back as something else. */
export const damagedPage: Attempt = {
  name: "damaged-page",
  tries: "pages of one device in the database file are overwritten while the service is down",
  holds: "the service starts; other devices of the account are acknowledged",
  alone: true,
  async run(scene) {
    const [culprit = "", other = ""] = await scene.devices(2);
    const line = new Line(scene.devicePort);
    // Nothing makes them shorter, so that its row is longer than a page.
    const texts = Array.from({ length: 7 }, () => randomBytes(3000).toString("base64"));
    const time = Math.floor(Date.now() / 1000) - 3600;
    line.send(report(culprit, { timestamp: time, lat: 48, lon: 11, ...Object.fromEntries(texts.entries()) }));
    await line.until(() => line.received > 0, patienceMs);
    scene.must(line.head.startsWith("HTTP/1.1 200"), `a report is taken before: ${line.head.slice(0, 40)}`);
    let pages = 0;
    await scene.restart((directory) => {
      pages = damage(join(directory, "waybeam.db"));
    });
    scene.must(pages > 0, "there is a page to damage");
    const trackers = [await Tracker.login(scene, culprit), await Tracker.login(scene, other)];
    let sent = 0;
    while (sent < 3 || (scene.goesOn() && sent < scene.scale(200, 3))) {
      for (const { line: own } of trackers) own.send(packet(1, (time + 60 + sent) * 1000, sent));
      sent++;
      if (!(await (trackers[1]?.answeredAll(sent) ?? false))) break;
    }
    const answered = trackers.map((tracker) => tracker.answered);
    scene.must(answered[1] === sent, "other devices of the account are acknowledged");
    for (const tracker of trackers) tracker.line.end();
    return {
      times: pages,
      happened: `of ${sent} reports ${Math.max(0, answered[0] ?? 0)} of the damaged device and ${answered[1]} of another acknowledged`,
    };
  },
};
