import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fixtureProtocol } from "../../test/support/fixture-protocol.ts";
import { MemoryIntake } from "../../test/support/memory-intake.ts";
import { createLog, createMetrics, createQuarantine, createTrace, systemClock, systemIds } from "../observe/index.ts";
import { protocols } from "../protocols/index.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../wire/reader.ts";
import { type Channel, writeReplies } from "./channel.ts";
import { CommandDesk } from "./commands.ts";
import { Cors } from "./cors.ts";
import { createCounters } from "./counters.ts";
import type { Exchange } from "./exchange.ts";
import { Knocks } from "./knocks.ts";
import { defaultLimits } from "./limits.ts";
import { Logins } from "./logins.ts";
import { Registry } from "./registry.ts";
import { Session } from "./session.ts";
import type { Shared } from "./shared.ts";
import { Sources } from "./sources.ts";

/** A peer whose messages wait like those in a socket, and who checks that no answer comes too early. */
class QueueingChannel implements Channel {
  readonly id = "c1";
  readonly address = "192.0.2.1";
  readonly lastTick = 0;
  readonly written: string[] = [];
  readonly session: Session;
  readonly #intake: MemoryIntake;
  readonly #inbox: string[] = [];
  isClosed = false;

  constructor(shared: Shared, intake: MemoryIntake, protocol: AnyProtocol = fixtureProtocol) {
    this.#intake = intake;
    this.session = new Session(shared, this, protocol, "tcp");
  }

  send(message: string): void {
    this.#inbox.push(message);
    this.resume();
  }
  write(bytes: Uint8Array): void {
    assert.ok(!this.isClosed);
    const text = latin1Of(bytes).trimEnd();
    this.written.push(text);
    const [kind, n] = text.split(",");
    if (kind !== "#P" && kind !== "#A") return;
    const stored = [...this.#intake.stored.values()].flat();
    assert.ok(
      stored.some(({ time }) => time === Number(n) * 1000),
      `${text} is answered and not stored`,
    );
  }
  submitted(): void {}
  finish(exchange: Exchange): void {
    writeReplies(this, exchange);
  }
  reread(): boolean {
    return false;
  }
  identified(): void {}
  refused(): void {}
  resume(): void {
    while (this.session.ready) {
      const message = this.#inbox.shift();
      if (message === undefined) return;
      this.session.take(bytesOfLatin1(message), 1);
    }
  }
  close(): void {
    this.isClosed = true;
    this.session.close();
  }
}

function world() {
  const intake = new MemoryIntake();
  intake.hold = true;
  const registry = new Registry();
  const metrics = createMetrics({ processMetrics: false });
  const shared: Shared = {
    deps: {
      protocols: [fixtureProtocol],
      intake,
      clock: systemClock,
      ids: systemIds,
      log: createLog("silent", { write: () => {} }),
      metrics,
      trace: createTrace(systemClock),
      quarantine: createQuarantine(systemClock),
      matchesSecret: (secret, hash) => secret === hash,
      bus: { publish: () => {}, subscribe: () => () => {}, close: async () => {} },
    },
    limits: { ...defaultLimits, messagesInFlight: 3, refusedMessages: 1000 },
    counters: createCounters(createMetrics({ processMetrics: false })),
    registry,
    logins: new Logins(defaultLimits),
    sources: new Sources(),
    commands: new CommandDesk(registry, systemClock, metrics),
    knocks: new Knocks(1_000_000),
    cors: new Cors(""),
    context: { receivedAt: 0, transport: "tcp", identified: false, options: {} },
    prefix: "t",
    tick: 0,
    inFlight: 0,
    buffered: 0,
    full: false,
    warnedAt: -1,
    stopping: false,
  };
  return { intake, shared, channel: new QueueingChannel(shared, intake) };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const device = fc.constantFrom("one", "two", "three");
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("fix" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("all" as const, "login" as const), device }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("heartbeat" as const, "commit" as const, "turn" as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("register" as const, "remove" as const), device }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("slow" as const, "fast" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function play(steps: readonly Step[]): Promise<ReturnType<typeof world>> {
  const played = world();
  const { intake, channel } = played;
  intake.register("one");
  for (const [n, next] of steps.entries()) {
    if (next.do === "fix") channel.send(`#P,${n}`);
    else if (next.do === "all") channel.send(`#A,${next.device},${n}`);
    else if (next.do === "login") channel.send(`#I,${next.device}`);
    else if (next.do === "heartbeat") channel.send("#H");
    else if (next.do === "commit") intake.commit();
    else if (next.do === "register") intake.register(next.device);
    else if (next.do === "remove") intake.remove(next.device);
    else if (next.do === "turn") await turn();
    else intake.slow = next.do === "slow";
  }
  return played;
}

test("whatever happens in whatever order: answered is stored, answers keep their order, nothing is left over", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { intake, shared, channel } = await play(steps);
      for (let rest = 0; rest < 2 * steps.length + 2; rest++) {
        intake.commit();
        await turn();
      }
      const order = channel.written.flatMap((text) => (/^#[PA],/.test(text) ? [Number(text.slice(3))] : []));
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
      assert.equal(channel.session.busy, false);
      assert.equal(shared.inFlight, 0);
      channel.close();
      assert.equal(shared.registry.size, 0);
    }),
    { numRuns: 300 },
  );
});

test("a connection that closes at any moment writes nothing more and leaves nothing behind", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { intake, shared, channel } = await play(steps);
      channel.close();
      intake.commit();
      await turn();
      await turn();
      intake.commit();
      assert.equal(shared.inFlight, 0);
      assert.equal(shared.registry.size, 0);
    }),
    { numRuns: 200 },
  );
});

test("a peer that ends in the midst of a message leaves nothing behind, whatever the rest of it says", async () => {
  const { intake, shared } = world();
  intake.register("one");
  intake.register("two");
  const answering: AnyProtocol = {
    ...fixtureProtocol,
    connect: () => {
      const connection = fixtureProtocol.connect();
      const decode = connection.decode.bind(connection);
      connection.decode = (frame, context) => [
        ...decode(bytesOfLatin1("#A,one,1"), context),
        ...decode(bytesOfLatin1("#T"), context),
        ...decode(bytesOfLatin1("#A,two,2"), context),
        ...decode(frame, context),
      ];
      return connection;
    },
  };
  class UnreadChannel extends QueueingChannel {
    override write(): void {
      this.close();
    }
  }
  const channel = new UnreadChannel(shared, intake, answering);
  channel.send("#P,3");
  assert.equal(channel.isClosed, true);
  intake.commit();
  await turn();
  assert.equal(shared.inFlight, 0);
  assert.equal(shared.registry.size, 0);
});

test("messages are read by the model of the device that speaks, and as it is now", async () => {
  const { intake, shared } = world();
  const models: (string | undefined)[] = [];
  const noting: AnyProtocol = {
    ...fixtureProtocol,
    connect: () => {
      const connection = fixtureProtocol.connect();
      const decode = connection.decode.bind(connection);
      connection.decode = (frame, context) => {
        models.push(context.options.model);
        return decode(frame, context);
      };
      return connection;
    },
  };
  const channel = new QueueingChannel(shared, intake, noting);
  intake.register("one", false, "R11");
  intake.register("two");
  for (const message of ["#I,one", "#H", "#I,two", "#H", "#I,nobody", "#H", "#I,one", "#H"]) channel.send(message);
  intake.register("one", false, "SEEWORLD");
  channel.send("#H");
  // What names another device is decoded twice: as the one before it writes, and as that device does.
  const read = [undefined, "R11", "R11", "R11", undefined, undefined, undefined, undefined, undefined, "R11", "R11"];
  assert.deepEqual(models, [...read, "SEEWORLD"]);
});

test("a connection stands for a bounded number of devices: the ones longest not heard make room", async () => {
  const { intake, shared, channel } = world();
  for (let index = 0; index < 300; index++) intake.register(`d${index}`);
  for (let index = 0; index < 300; index++) channel.send(`#I,d${index}`);
  await turn();
  assert.equal(shared.registry.size, defaultLimits.devicesPerConnection);
  assert.equal(shared.registry.find("d43"), undefined);
  assert.equal(shared.registry.find("d44"), channel.session);
});

test("wrong checksums are refused and counted with their device, unless its setting says that they mean nothing", async () => {
  const gt06 = protocols.find(({ id }) => id === "gt06");
  assert.ok(gt06);
  const login = latin1Of(Uint8Array.fromHex("78780d010350000000000017000100000d0a"));
  const fix = latin1Of(Uint8Array.fromHex("78781f121a0203040506c9057c30a801794fcc2e14b401060112340056780003ffff0d0a"));
  for (const slow of [false, true]) {
    const { shared, intake } = world();
    intake.hold = false;
    intake.register("350000000000017");
    intake.slow = slow;
    const strict = new QueueingChannel(shared, intake, gt06);
    strict.send(login);
    strict.send(fix);
    await turn();
    await turn();
    assert.deepEqual([strict.session.device, strict.written], [undefined, []]);
    const [knock] = shared.deps.quarantine.ofDevice("350000000000017");
    assert.deepEqual([knock?.cause, knock?.attempts], ["checksum", 1]);

    intake.ignoreChecksums("350000000000017");
    const lenient = new QueueingChannel(shared, intake, gt06);
    lenient.send(login);
    lenient.send(fix);
    for (let turns = 0; turns < 8; turns++) await turn();
    assert.equal(lenient.session.device?.id, "350000000000017");
    assert.equal(intake.stored.get("350000000000017")?.length, 1);
  }
});
