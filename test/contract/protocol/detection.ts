import { detectionBytes, detectProtocol } from "../../../src/wire/detect.ts";
import { startsHttp } from "../../../src/wire/http.ts";
import type { AnyProtocol } from "../../../src/wire/protocol.ts";
import type { Vector } from "../../support/vectors.ts";

/**
 * Whether a connection may begin with the vector's first message: its device is still unknown, and the message is the
 * protocol's own.
 */
export function opensConnection(vector: Vector): boolean {
  const first = vector.effects[0] ?? [];
  return vector.input.device === undefined && first.some((effect) => effect.type !== "failure");
}

/** Vectors whose first message, or (of a stream) the start of it, another protocol of the list would be given. */
export function claimedByOthers(
  protocols: readonly AnyProtocol[],
  protocol: AnyProtocol,
  vectors: readonly Vector[],
): readonly string[] {
  const claims: string[] = [];
  for (const vector of vectors) {
    const message = vector.input.messages[0];
    if (message === undefined || !opensConnection(vector)) continue;
    if (vector.transport === "tcp" && startsHttp(message) === "sure") claims.push(`${vector.name}: begins like HTTP`);
    const shortest = vector.transport === "tcp" ? 1 : message.length;
    for (let length = shortest; length <= Math.min(message.length, detectionBytes); length++) {
      const found = detectProtocol(protocols, message.subarray(0, length), vector.transport, length === message.length);
      if (found === protocol || found === "undecided") continue;
      claims.push(`${vector.name}: ${length} bytes are taken for ${found === "none" ? "nothing" : found.id}`);
      break;
    }
  }
  return claims;
}
