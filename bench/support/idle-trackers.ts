// Trackers that log in and then say nothing. Arguments: port, how many.
import { connect } from "node:net";
import { avlImei, avlLogin } from "./avl.ts";

const [port = 0, trackers = 0] = process.argv.slice(2).map(Number);
/** Connections under way at once, below the listener's backlog. */
const atOnce = 100;
let next = 0;
let loggedIn = 0;

function one(): void {
  if (next === trackers) return;
  const socket = connect(port, "127.0.0.1");
  const imei = avlImei(next++);
  socket.on("connect", () => socket.write(avlLogin(imei)));
  socket.on("error", (error) => {
    process.stderr.write(`idle tracker: ${error.message}\n`);
    process.exit(1);
  });
  socket.once("data", () => {
    loggedIn++;
    if (loggedIn === trackers) process.send?.({ loggedIn });
    else one();
  });
}

for (let index = 0; index < Math.min(atOnce, trackers); index++) one();
