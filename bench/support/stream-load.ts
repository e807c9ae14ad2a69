// Live streams that each follow some devices, on raw sockets so that the client costs little. Arguments: port, token,
// streams, devices, and how many devices each stream follows. Says when all have the present. Then, for each message
// with a number of seconds, it measures so long, and says what came. The trackers are those of avl-load with positions
// of the moment: their times tell how old an event is, their speeds count on, so a gap shows what is missing.
import { connect } from "node:net";
import { avlImei } from "./avl.ts";
import { percentile } from "./percentile.ts";

const [port = 0, , streams = 0, devices = 0, each = 0] = process.argv.slice(2).map(Number);
const token = process.argv[3];
/** Speeds of these trackers begin anew after so many positions. */
const speeds = 50;

let ages: number[] = [];
let missing = 0;
let failures = 0;
let live = 0;

function stream(index: number): void {
  const ids = Array.from({ length: each }, (_, at) => avlImei((index * each + at) % devices));
  const last = new Map<string, number>();
  const socket = connect(port, "127.0.0.1");
  let rest = "";
  const hear = (event: string) => {
    if (event.includes("event: live")) {
      if (++live === streams) process.send?.({ live });
      return;
    }
    const [id, time, speed] = ['"deviceId":"', '"dateTime":"', '"speed":'].map((name) => {
      const at = event.indexOf(name) + name.length;
      return at < name.length ? "" : event.slice(at, event.indexOf(name.endsWith('"') ? '"' : ",", at));
    });
    if (id === undefined || time === undefined || time === "") return;
    ages.push(Date.now() - Date.parse(time));
    const before = last.get(id);
    last.set(id, Number(speed));
    if (before !== undefined) missing += (Number(speed) - before - 1 + 2 * speeds) % speeds;
  };
  socket.on("connect", () => {
    const path = `/api/stream?kind=location&device=${ids.join(",")}`;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`);
  });
  let open = false;
  socket.once("data", (head: Buffer) => {
    open = head.toString("latin1").startsWith("HTTP/1.1 200");
    if (!open) socket.destroy();
  });
  socket.on("data", (chunk: Buffer) => {
    const events = (rest + chunk.toString("latin1")).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) hear(event);
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    if (open) failures++;
    // Too many come at once: it tries again.
    else setTimeout(() => stream(index), 500);
  });
}

for (let index = 0; index < streams; index++) setTimeout(() => stream(index), 2 * index);

process.on("message", (seconds: number) => {
  ages = [];
  missing = 0;
  setTimeout(() => {
    ages.sort((one, other) => one - other);
    process.send?.({
      events: ages.length,
      missing,
      failures,
      p50: percentile(ages, 0.5),
      p99: percentile(ages, 0.99),
    });
  }, seconds * 1000);
});
