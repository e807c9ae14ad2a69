import { detectionBytes, detectProtocol } from "../wire/detect.ts";
import { startsHttp } from "../wire/http.ts";
import type { AnyProtocol } from "../wire/protocol.ts";

/**
 * What a connection's first bytes say it speaks: a protocol, or HTTP, whose requests tell the protocol later. "undecided": further bytes may tell.
 * "none": nothing that is known. `last`: no more will come.
 */
export function openingOf(
  protocols: readonly AnyProtocol[],
  bytes: Uint8Array,
  last: boolean,
): AnyProtocol | "http" | "undecided" | "none" {
  const http = startsHttp(bytes);
  if (http === "sure") return "http";
  const found = detectProtocol(protocols, bytes.subarray(0, detectionBytes), "tcp", last);
  return found === "none" && http === "maybe" ? "undecided" : found;
}
