import type { AnyProtocol, Certainty, Transport } from "./protocol.ts";

/** Bytes that detection looks at; a connection that no protocol is sure of by then is given to the first that says maybe. */
export const detectionBytes = 256;

/**
 * Which protocol a connection's first bytes speak. `undecided`: further bytes may tell. `none`: no protocol knows these bytes.
 * One that is sure wins (the first in the list, should two be); while one only says maybe, further bytes are waited for, up to
 * `detectionBytes`; `last` says that no more will come (a datagram).
 */
export function detectProtocol(
  protocols: readonly AnyProtocol[],
  bytes: Uint8Array,
  transport: Transport,
  last: boolean,
): AnyProtocol | "undecided" | "none" {
  let maybe: AnyProtocol | undefined;
  for (const protocol of protocols) {
    if (!protocol.transports.includes(transport)) continue;
    const certainty: Certainty = protocol.detect(bytes, transport);
    if (certainty === "sure") return protocol;
    if (certainty === "maybe") maybe ??= protocol;
  }
  if (maybe === undefined) return "none";
  return last || bytes.length >= detectionBytes ? maybe : "undecided";
}
