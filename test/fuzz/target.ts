import assert from "node:assert/strict";
import type { Effect } from "../../src/model/effects.ts";
import { protocols } from "../../src/protocols/index.ts";
import { detectionBytes, detectProtocol } from "../../src/wire/detect.ts";
import type { AnyProtocol, DecodeContext, Transport } from "../../src/wire/protocol.ts";
import { framerOf } from "../../src/wire/replay.ts";
import { FrameStream } from "../../src/wire/stream.ts";
import { cutAt, loadVectors } from "../support/vectors.ts";
import { assertWellFormed } from "../support/well-formed.ts";
import { mutate, type Random } from "./mutate.ts";

/** What one input is: bytes in the pieces in which they come, and what is known of the connection. */
export interface Input {
  readonly transport: Transport;
  readonly pieces: readonly Uint8Array[];
  readonly identified: boolean;
  readonly model: string | undefined;
  readonly format: string | undefined;
  readonly checksums: boolean;
}

/**
 * A protocol's messages, those of its vectors and those that its simulated device makes, and the options that its
 * vectors use.
 */
export class Target {
  readonly protocol: AnyProtocol;
  readonly #corpus: readonly Uint8Array[];
  readonly #models: readonly (string | undefined)[];
  readonly #formats: readonly (string | undefined)[];

  constructor(protocol: AnyProtocol) {
    this.protocol = protocol;
    const vectors = loadVectors(protocol.id);
    this.#corpus = [...vectors.flatMap(({ input }) => input.messages), ...simulated(protocol)].filter(
      ({ length }) => length > 0,
    );
    this.#models = [undefined, ...new Set(vectors.map(({ input }) => input.options.model))];
    this.#formats = [undefined, ...new Set(vectors.map(({ input }) => input.options.format))];
  }

  /** The next input of a seed. */
  input(random: Random): Input {
    const bytes = mutate(this.#corpus, random);
    const cuts = Array.from({ length: random.below(4) }, () => random.below(bytes.length + 1));
    return {
      transport: random.of(this.protocol.transports) ?? "tcp",
      pieces: cutAt(bytes, cuts),
      identified: random.below(4) > 0,
      model: random.of(this.#models),
      format: random.of(this.#formats),
      checksums: random.below(2) === 0,
    };
  }
}

function simulated({ simulate }: AnyProtocol): readonly Uint8Array[] {
  if (simulate === undefined) return [];
  const device = "350000000000006";
  const report = {
    time: Date.UTC(2026, 5, 1),
    latitude: 4.7,
    longitude: -74.1,
    altitude: 2600,
    speed: 42,
    course: 181,
    satellites: 9,
    ignition: true,
    battery: 85,
  };
  const logins = simulate.login === undefined ? [] : [simulate.login(device, 1)];
  return [...logins, simulate.report(device, [report], 2), simulate.report(device, [report, report, report], 3)];
}

/**
 * Plays an input in the steps of the gateway. Throws where something throws that is no reading past a message's end,
 * where effects are not well-formed, or where more steps or memory are used than the bytes allow.
 */
export function play(protocol: AnyProtocol, { transport, pieces, ...known }: Input): void {
  const options = {
    ...(known.model !== undefined && { model: known.model }),
    ...(known.format !== undefined && { format: known.format }),
    ...(known.checksums && { checksums: "ignore" as const }),
  };
  const context: DecodeContext = { receivedAt: Date.UTC(2026, 0, 1), transport, identified: known.identified, options };
  const connection = protocol.connect();
  const decode = (message: Uint8Array): readonly Effect[] => {
    const effects = connection.decode(message, context);
    if (connection.lastError !== undefined && !isPastTheEnd(connection.lastError)) throw connection.lastError;
    effects.forEach(assertWellFormed);
    assert.ok(effects.length <= 4 * message.length + 16, "effects without end");
    protocol.expects(message);
    if (protocol.secret !== undefined) assert.equal(protocol.secret.mask(message).length, message.length);
    return effects;
  };
  for (const piece of pieces.slice(0, 1))
    detectProtocol(protocols, piece.subarray(0, detectionBytes), transport, false);
  const framer = framerOf(protocol, transport);
  let steps = 0;
  const counted: typeof framer.next = (buffer, offset, progress) => {
    steps++;
    return framer.next(buffer, offset, progress);
  };
  const stream = new FrameStream({ ...framer, next: counted }, Number.POSITIVE_INFINITY);
  let length = 0;
  for (const piece of pieces) {
    length += piece.length;
    stream.push(piece);
    for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) decode(next);
    assert.ok(stream.unread < framer.maximum, "more is kept than the framer's maximum");
    assert.ok(stream.held <= 4 * framer.maximum + 1024, "memory without bound");
  }
  assert.ok(steps <= length + pieces.length, `${steps} steps for ${length} bytes`);
  for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled()) decode(next);
  // What no framer cuts may still come as a datagram.
  for (const piece of pieces) decode(piece);
}

/** What readers throw at the end of a message: the usual way in which a decoder learns that one is cut short. */
function isPastTheEnd(error: unknown): boolean {
  return error instanceof RangeError && /outside|bounds/i.test(error.message);
}
