// Keep-alive connections that ask the same again and again, on raw sockets so that the client costs little.
// Arguments: port, connections, warm-up seconds, measured seconds, token (or @FILE with one a line, used in turn),
// paths (in turn).
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { percentile } from "./percentile.ts";

const [port, connections, warmup, measured] = process.argv.slice(2, 6).map(Number);
const [token = "", ...paths] = process.argv.slice(6);
const tokens = token.startsWith("@") ? readFileSync(token.slice(1), "utf8").trim().split("\n") : [token];
const latencies: number[] = [];
let answers = 0;
let failures = 0;
let measuring = false;

function client(index: number): void {
  const socket = connect(port ?? 0, "127.0.0.1");
  // So that the connections are not all at the same path and token.
  let turn = index * 101;
  let sentAt = 0;
  /** Bytes of the present answer that are still to come; -1: its head is not whole yet. */
  let left = -1;
  let head = "";
  const ask = () => {
    const path = paths[turn % paths.length];
    const bearer = tokens[turn % tokens.length];
    turn++;
    sentAt = performance.now();
    left = -1;
    head = "";
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${bearer}\r\n\r\n`);
  };
  socket.setNoDelay(true);
  socket.on("connect", ask);
  socket.on("error", () => failures++);
  socket.on("data", (chunk: Buffer) => {
    if (left < 0) {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!head.startsWith("HTTP/1.1 200")) failures++;
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      left = end + 4 + Number(length) - head.length;
    } else left -= chunk.length;
    if (left > 0) return;
    if (measuring) {
      answers++;
      latencies.push(performance.now() - sentAt);
    }
    ask();
  });
}

for (let index = 0; index < (connections ?? 0); index++) client(index);
setTimeout(
  () => {
    measuring = true;
    const began = performance.now();
    setTimeout(
      () => {
        const seconds = (performance.now() - began) / 1000;
        latencies.sort((one, other) => one - other);
        process.send?.({
          rate: answers / seconds,
          failures,
          p50: percentile(latencies, 0.5),
          p99: percentile(latencies, 0.99),
        });
        process.exit(0);
      },
      (measured ?? 0) * 1000,
    );
  },
  (warmup ?? 0) * 1000,
);
