import type { Effect } from "../model/effects.ts";
import { behindBlanks, detectionBytes, detectProtocol } from "../wire/detect.ts";
import type { AnyProtocol, Transport } from "../wire/protocol.ts";
import { Replay, type ReplayOptions } from "../wire/replay.ts";
import { type DecodeInput, InputError } from "./decode-input.ts";

/** A recorded connection's protocol and the effects of each of its messages (or pieces). */
export interface DecodeOutput {
  readonly protocol: AnyProtocol;
  readonly transport: Transport;
  readonly effects: readonly (readonly Effect[])[];
}

/** The transports that an input without one may have come by, in the order in which they are tried. */
const transports: readonly Transport[] = ["tcp", "udp", "http"];

/**
 * Decodes one recorded connection. `now`: the time of arrival where the input has none, epoch ms. Throws InputError.
 */
export function decodeInput(protocols: readonly AnyProtocol[], input: DecodeInput, now: number): DecodeOutput {
  const { protocol, transport } = identifyProtocol(protocols, input);
  const options: ReplayOptions = {
    transport,
    receivedAt: input.receivedAt ?? now,
    identified: input.device !== undefined,
    options: input.options,
  };
  const replay = new Replay(protocol, options);
  // A datagram is a message whatever it was called.
  const effects =
    input.chunks && transport !== "udp"
      ? replay.chunks(input.messages)
      : input.messages.map((message) => replay.recorded(message));
  return { protocol, transport, effects };
}

/** The protocol of an input, named or detected, and the transport it came by. Throws InputError. */
export function identifyProtocol(
  protocols: readonly AnyProtocol[],
  input: DecodeInput,
): { readonly protocol: AnyProtocol; readonly transport: Transport } {
  if (input.protocol === undefined) return detect(protocols, input);
  const protocol = protocols.find((known) => known.id === input.protocol);
  if (protocol === undefined)
    throw new InputError(
      `unknown protocol "${input.protocol}"; known: ${protocols.map((known) => known.id).join(", ")}`,
    );
  const transport = input.transport ?? protocol.transports[0] ?? "tcp";
  if (!protocol.transports.includes(transport))
    throw new InputError(`${protocol.id} does not come over ${transport}, but over ${protocol.transports.join(", ")}`);
  return { protocol, transport };
}

/**
 * A stream is known by its first bytes, in whatever pieces they came; of whole messages, the first that a protocol
 * knows decides.
 */
function detect(
  protocols: readonly AnyProtocol[],
  input: DecodeInput,
): { readonly protocol: AnyProtocol; readonly transport: Transport } {
  const openings = input.chunks ? [opening(input.messages)] : input.messages;
  for (const transport of input.transport === undefined ? transports : [input.transport])
    for (const bytes of openings.flatMap((each) => [each, (transport === "tcp" && behindBlanks(each)) || each])) {
      const protocol = detectProtocol(protocols, bytes, transport, true);
      if (typeof protocol === "object") return { protocol, transport };
    }
  throw new InputError("no protocol knows these bytes");
}

function opening(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(detectionBytes);
  let length = 0;
  for (const chunk of chunks) {
    const taken = chunk.subarray(0, detectionBytes - length);
    bytes.set(taken, length);
    length += taken.length;
  }
  return bytes.subarray(0, length);
}
