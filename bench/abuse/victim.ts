// The other tenant, as a process of its own: trackers that report and are acknowledged, and users who ask the API, all
// the time and at a steady rate. Argument: VictimPlan as JSON. Says `{ready: true}` when each tracker was acknowledged,
// and to each message what was felt since the one before.
import { connect } from "node:net";
import { constants, setPriority } from "node:os";
import { AvlPacket, avlLogin } from "../support/avl.ts";
import { percentile } from "../support/percentile.ts";
import { Client } from "./client.ts";
import type { Felt, VictimPlan } from "./felt.ts";
import { Tally } from "./tally.ts";

try {
  // Other tenants have machines of their own. Here theirs shares the processors with the attack, and must not measure
  // how long it waits for one itself.
  setPriority(constants.priority.PRIORITY_HIGH);
} catch {
  // Only the superuser may: anybody else's figures count these waits, too.
}

const plan: VictimPlan = JSON.parse(process.argv[2] ?? "{}");

/** What is under way: since when it is due. A stall counts for what it keeps waiting, also where it is not over yet. */
class Lane {
  readonly dues = new Set<{ due: number }>();
  latencies: number[] = [];
  readonly troubles = new Tally();

  take(): { readonly count: number; readonly p50: number; readonly p99: number; readonly troubles: string } {
    const now = performance.now();
    const all = this.latencies.concat([...this.dues].flatMap(({ due }) => (due < now ? [now - due] : [])));
    all.sort((one, other) => one - other);
    const taken = {
      count: this.latencies.length,
      p50: percentile(all, 0.5),
      p99: percentile(all, 0.99),
      troubles: this.troubles.total === 0 ? "" : String(this.troubles),
    };
    this.latencies = [];
    this.troubles.clear();
    return taken;
  }
}

const acknowledgements = new Lane();
const answers = new Lane();
const first = Date.now() - 3_600_000;
let waiting = plan.devices.length;

function tracker(device: string, index: number): void {
  const packet = new AvlPacket(1);
  const turn = { due: performance.now() + (plan.trackerMs * index) / plan.devices.length };
  let sent = 0;
  let known = false;
  const open = () => {
    const socket = connect({ port: plan.devicePort, host: "127.0.0.1", localAddress: plan.address, noDelay: true });
    let loggedIn = false;
    const send = () => {
      if (socket.destroyed) return;
      packet.move(first + sent * 1000 + index, sent * 20 + index);
      socket.write(packet.bytes);
    };
    socket.on("connect", () => socket.write(avlLogin(device)));
    socket.on("data", (chunk: Buffer) => {
      if (!loggedIn) {
        loggedIn = true;
        if (chunk[0] === 1) return send();
        acknowledgements.troubles.add("login refused");
        return socket.destroy();
      }
      if (chunk.length !== 4 || chunk.readUInt32BE(0) !== 1) acknowledgements.troubles.add("refused");
      acknowledgements.latencies.push(performance.now() - turn.due);
      sent++;
      if (!known) if (--waiting === 0) process.send?.({ ready: true });
      known = true;
      turn.due += plan.trackerMs;
      setTimeout(send, Math.max(0, turn.due - performance.now()));
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      acknowledgements.troubles.add("disconnected");
      setTimeout(open, 200);
    });
  };
  acknowledgements.dues.add(turn);
  open();
}

async function asker(token: string, index: number): Promise<void> {
  const client = new Client(plan.apiPort, token, plan.address, 1);
  const turn = { due: performance.now() + (plan.askerMs * index) / plan.tokens.length };
  answers.dues.add(turn);
  const ask = (step: number) => {
    const device = plan.devices[step % plan.devices.length];
    if (step % 3 === 0) return client.ask("GET", `/api/devices/${device}/lastLocation`);
    if (step % 3 === 1) return client.ask("GET", "/api/devices");
    const range = { from: new Date(first).toISOString(), to: new Date(first + 3_600_000).toISOString() };
    return client.ask("POST", `/api/devices/${device}/locations`, { ...range, limit: 50 });
  };
  for (let step = index; ; step++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, turn.due - performance.now())));
    const { status, text } = await ask(step);
    // Before its first report a device has no last location.
    if (waiting === 0 && (status !== 200 || text.at(-1) !== "}")) answers.troubles.add(status);
    answers.latencies.push(performance.now() - turn.due);
    turn.due += plan.askerMs;
  }
}

process.on("message", () => {
  const felt: Felt = { acknowledgements: acknowledgements.take(), answers: answers.take() };
  process.send?.(felt);
});
plan.devices.forEach(tracker);
plan.tokens.forEach(asker);
