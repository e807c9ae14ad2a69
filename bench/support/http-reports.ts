// Devices that report over HTTP, one after the other on a few connections. Arguments: port, devices, reports of each,
// seconds from one report of a device to its next.
import { connect } from "node:net";
import { avlImei } from "./avl.ts";

const [port = 0, devices = 0, rounds = 0, every = 0] = process.argv.slice(2).map(Number);
const connections = 500;
const start = Math.floor(Date.now() / 1000) - rounds * every;
let next = 0;
let answered = 0;
let refused = 0;

function client(): void {
  const socket = connect(port, "127.0.0.1");
  const report = () => {
    if (next === devices * rounds) {
      socket.end();
      return;
    }
    const [device, round] = [next % devices, Math.floor(next / devices)];
    next++;
    const place = `lat=${48 + device / 1e6 + round / 1e4}&lon=${11 + round / 1e4}&speed=20&bearing=90&batt=90`;
    const query = `id=${avlImei(device)}&timestamp=${start + round * every}&${place}`;
    socket.write(`GET /?${query} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
  };
  socket.setNoDelay(true);
  socket.on("connect", report);
  socket.on("error", (error) => {
    process.stderr.write(`reporting device: ${error.message}\n`);
    process.exit(1);
  });
  socket.on("data", (chunk: Buffer) => {
    // Answers are short, and none is asked for before the last one came.
    if (!chunk.includes("\r\n\r\n")) return;
    if (!chunk.toString("latin1").startsWith("HTTP/1.1 200")) refused++;
    if (++answered === devices * rounds) process.send?.({ refused });
    else report();
  });
}

for (let index = 0; index < connections; index++) client();
