// Trackers with one packet in flight each, as a process of its own. Arguments: port, connections, records a packet,
// warm-up and measured seconds, and ms from one packet of a tracker to its next (0: as soon as the one before is
// acknowledged), how many days ago the first position was, and which packets are late (0: none; 10: every tenth), how
// many days ago the first position of an earlier run was, and the moment from which all runs count their days (0: now);
// whether positions are of the moment of their sending (1: yes), and the number of the first tracker. One half of the
// late positions lie anywhere between this run's first position and the newest, the other half in the first minutes of
// the earlier run. Each run against the same service needs days of its own: positions between stored ones are late.
import { connect, type Socket } from "node:net";
import { AvlPacket, avlImei, avlLogin } from "./avl.ts";
import { percentile } from "./percentile.ts";

const [
  port = 0,
  connections = 0,
  records = 0,
  warmup = 0,
  measured = 0,
  every = 0,
  daysAgo = 5,
  lateEvery = 0,
  earlier = 0,
  now = 0,
  live = 0,
  firstTracker = 0,
] = process.argv.slice(2).map(Number);
const start = (now === 0 ? Date.now() : now) - daysAgo * 86_400_000;
/** Seconds of an earlier run that late positions lie in. */
const earlierSeconds = 1000;
const latencies: number[] = [];
let acknowledged = 0;
let measuring = false;
let refused = 0;

function tracker(index: number): void {
  const socket: Socket = connect(port, "127.0.0.1");
  const packet = new AvlPacket(records);
  let sent = 0;
  let packets = 0;
  let random = index + 1 + daysAgo * 7919;
  let sentAt = 0;
  let loggedIn = false;
  /** When the next packet is due: a late acknowledgement does not slow the tracker down. */
  let due = performance.now() + (every * index) / connections;
  const next = () => {
    due += every;
    const wait = due - performance.now();
    if (wait > 0) setTimeout(send, wait);
    else send();
  };
  /** Less than a second after a position that was sent before, and beside it. */
  const moveLate = () => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const back = (packets / lateEvery) % 2 === 0 ? (earlier - daysAgo) * 86_400_000 : 0;
    const step = Math.floor((random / 0x1_0000_0000) * (back > 0 ? earlierSeconds : sent * records));
    // Some milliseconds from the other late ones at this place.
    packet.move(start - back + step * 1000 + index + 250 + (packets % 500), step + index);
  };
  const send = () => {
    packets++;
    if (lateEvery > 0 && sent > 0 && packets % lateEvery === 0) moveLate();
    else {
      packet.move(live === 1 ? Date.now() : start + sent * records * 1000 + index, sent * records + index);
      sent++;
    }
    sentAt = performance.now();
    // The packet is changed only after its answer came, so it has long been written by then.
    socket.write(packet.bytes);
  };
  socket.setNoDelay(true);
  socket.on("connect", () => socket.write(avlLogin(avlImei(firstTracker + index))));
  socket.on("data", (chunk: Buffer) => {
    if (!loggedIn) {
      loggedIn = chunk[0] === 1;
      if (loggedIn) next();
      return;
    }
    const count = chunk.length === 4 ? chunk.readUInt32BE(0) : 0;
    if (count !== records) refused++;
    else if (measuring) {
      acknowledged += count;
      latencies.push(performance.now() - sentAt);
    }
    next();
  });
  socket.on("error", () => refused++);
}

for (let index = 0; index < connections; index++) tracker(index);
setTimeout(() => {
  measuring = true;
  const began = performance.now();
  setTimeout(() => {
    const seconds = (performance.now() - began) / 1000;
    latencies.sort((one, other) => one - other);
    process.send?.({
      rate: acknowledged / seconds,
      refused,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    });
    process.exit(0);
  }, measured * 1000);
}, warmup * 1000);
