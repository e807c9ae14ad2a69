// Trackers that drive through a city, with one packet of one position in flight each. They stand by until a message
// tells for how many ms they are to send, answer it with what came of that, and go on where they were with the next.
// Arguments: port, connections. Its first message says that all are logged in.
import { connect, type Socket } from "node:net";
import { AvlPacket, avlImei, avlLogin } from "./avl.ts";
import { cityJourney } from "./city.ts";
import { percentile } from "./percentile.ts";

const [port = 0, connections = 0] = process.argv.slice(2).map(Number);
/** Positions are seconds apart, from a day ago on: none is ahead of its time before 86,400 are sent. */
const start = Date.now() - 86_400_000;
const sends: (() => void)[] = [];
let latencies: number[] = [];
let acknowledged = 0;
let refused = 0;
let inFlight = 0;
let sending = false;
let burstEnded: (() => void) | undefined;

function tracker(index: number): void {
  const socket: Socket = connect(port, "127.0.0.1");
  const packet = new AvlPacket(1, cityJourney(index));
  let sent = 0;
  let sentAt = 0;
  let loggedIn = false;
  const send = () => {
    packet.move(start + sent * 1000 + index, sent);
    sent++;
    sentAt = performance.now();
    inFlight++;
    // The packet is changed only after its answer came, so it has long been written by then.
    socket.write(packet.bytes);
  };
  const answered = (count: number) => {
    inFlight--;
    if (count === 1) acknowledged++;
    else refused++;
    latencies.push(performance.now() - sentAt);
    if (sending) send();
    else if (inFlight === 0) burstEnded?.();
  };
  socket.setNoDelay(true);
  socket.on("connect", () => socket.write(avlLogin(avlImei(index))));
  socket.on("data", (chunk: Buffer) => {
    if (loggedIn) {
      answered(chunk.length === 4 ? chunk.readUInt32BE(0) : 0);
      return;
    }
    loggedIn = true;
    sends.push(send);
    if (sends.length === connections) process.send?.("ready");
  });
  socket.on("error", (error) => {
    process.stderr.write(`tracker: ${error.message}\n`);
    process.exit(1);
  });
}

async function burst(ms: number): Promise<void> {
  latencies = [];
  acknowledged = 0;
  refused = 0;
  const began = performance.now();
  sending = true;
  for (const send of sends) send();
  const ended = new Promise<void>((resolve) => {
    burstEnded = resolve;
  });
  setTimeout(() => {
    sending = false;
  }, ms);
  await ended;
  const seconds = (performance.now() - began) / 1000;
  latencies.sort((one, other) => one - other);
  const [p50, p99] = [0.5, 0.99].map((part) => percentile(latencies, part));
  process.send?.({ rate: acknowledged / seconds, refused, p50, p99 });
}

process.on("message", (message) => {
  if (typeof message === "number") void burst(message);
});
for (let index = 0; index < connections; index++) tracker(index);
