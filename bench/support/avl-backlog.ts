// One tracker's backlog, as a process of its own. Arguments: port, IMEI, records in all, records a packet, packets in
// flight, the order (oldest or newest first, or random), and the most seconds. Says how many records were acknowledged,
// and how many a second.
import { connect } from "node:net";
import { crc16Arc } from "../../src/wire/checksums.ts";
import { AvlPacket, avlLogin } from "./avl.ts";

const [port = "0", imei = "", all = "0", each = "0", window = "0", order = "", most = "0"] = process.argv.slice(2);
const [total, records, inFlight] = [Number(all), Number(each), Number(window)];
/** A record each second, up to a day ago. */
const start = Date.now() - 86_400_000 - total * 1000;
/** Bytes of a packet before its first record and behind its last one. */
const [headBytes, endBytes] = [10, 5];

const places = Uint32Array.from({ length: total }, (_, index) => (order === "newest" ? total - 1 - index : index));
if (order === "random") shuffle(places);

/** Always the same order, so that runs compare. */
function shuffle(numbers: Uint32Array): void {
  let seed = 7;
  for (let index = numbers.length - 1; index > 0; index--) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((seed / 0x1_0000_0000) * (index + 1));
    [numbers[index], numbers[other]] = [numbers[other] ?? 0, numbers[index] ?? 0];
  }
}

const packet = new AvlPacket(records);
const one = new AvlPacket(1);
const length = one.bytes.length - headBytes - endBytes;

/** The packet of the next records, in the order of the backlog. */
function fill(from: number): Uint8Array {
  for (let index = 0; index < records; index++) {
    const place = places[from + index] ?? 0;
    one.move(start + place * 1000, place);
    packet.bytes.set(one.bytes.subarray(headBytes, headBytes + length), headBytes + index * length);
  }
  const view = new DataView(packet.bytes.buffer);
  const end = packet.bytes.length - 4;
  view.setUint32(end, crc16Arc(packet.bytes.subarray(8, end)));
  return packet.bytes.slice();
}

/** When each packet was acknowledged. */
const times: number[] = [];
const packets = Math.floor(total / records);
let sent = 0;
let loggedIn = false;
let bytes = 0;

function finish(): void {
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  process.send?.({ acknowledged: times.length * records, rate: ((times.length - 1) * records) / seconds });
  process.exit(0);
}

const socket = connect(Number(port), "127.0.0.1");
socket.setNoDelay(true);
const send = () => {
  for (; sent < packets && sent - times.length < inFlight; sent++) socket.write(fill(sent * records));
};
socket.on("connect", () => socket.write(avlLogin(imei)));
socket.on("data", (chunk: Buffer) => {
  if (!loggedIn) {
    loggedIn = true;
    setTimeout(finish, Number(most) * 1000);
    return send();
  }
  for (bytes += chunk.length; bytes >= 4; bytes -= 4) times.push(performance.now());
  if (times.length >= packets) finish();
  else send();
});
