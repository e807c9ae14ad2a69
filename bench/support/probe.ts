// One tracker that alternates between two speeds, and a live stream of its device's alerts, as a process of its own.
// Arguments: HTTP port, token, device port, IMEI, how many alerts to wait for, and ms from one report to the next; 0:
// late, each report a second before the one that came last, as soon as the alert before was told. Says how long after
// the sending of the fix each alert was told, ms.
import { connect } from "node:net";
import { AvlPacket, avlLogin } from "./avl.ts";

const [httpPort = "0", token = "", devicePort = "0", imei = "", wanted = "0", every = "0"] = process.argv.slice(2);
const [slow, fast] = [40, 140];
const isLate = Number(every) === 0;

let speed = slow;
const packet = new AvlPacket(1, {
  elements: { ones: [[239, 1]], twos: [], fours: [] },
  place(view, at, _time, step) {
    view.setInt32(at + 9, 252_000_000 + step * 300);
    view.setInt32(at + 13, 546_000_000);
    view.setUint16(at + 22, speed);
  },
});
const socket = connect(Number(devicePort), "127.0.0.1");
const begin = Date.now() - 60_000;
/** Seconds from the beginning to the newest report, and to the last late one. */
const newest = 50;
let step = 0;
let sentAt = 0;
const took: number[] = [];

function send(kmh: number, second: number): void {
  speed = kmh;
  packet.move(isLate ? begin + second * 1000 : Date.now(), second);
  if (kmh === fast) sentAt = performance.now();
  socket.write(packet.bytes.slice());
}

/** Between two reports of the same speed, so that the alert begins and ends there. */
function sendLate(): void {
  step += 2;
  send(fast, newest - step);
}

function told(): void {
  took.push(performance.now() - sentAt);
  if (took.length >= Number(wanted)) {
    process.send?.(took);
    process.exit(0);
  }
  if (isLate) setTimeout(sendLate, 1000);
}

function listen(): void {
  const stream = connect(Number(httpPort), "127.0.0.1");
  let rest = "";
  let open = false;
  stream.on("connect", () =>
    stream.write(
      `GET /api/stream?kind=alert&device=${imei} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`,
    ),
  );
  stream.on("data", (chunk: Buffer) => {
    const events = (rest + chunk.toString("latin1")).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events)
      if (event.includes("event: live")) {
        open = true;
        begun();
      } else if (open && event.includes("event: alert") && event.includes('"phase":"raised"')) told();
  });
}

function begun(): void {
  if (!isLate) {
    setInterval(() => send(step++ % 2 === 0 ? slow : fast, step), Number(every));
    return;
  }
  for (let second = 0; second <= newest; second += 2) if (second !== newest - 1) send(slow, second);
  // Between these.
  step = -1;
  setTimeout(sendLate, 2000);
}

socket.setNoDelay(true);
socket.on("connect", () => socket.write(avlLogin(imei)));
socket.once("data", listen);
socket.resume();
