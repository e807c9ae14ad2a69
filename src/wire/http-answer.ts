import { latin1Of } from "./reader.ts";

/** Longest head of a response that a device reads. */
const maximumHead = 1024;

/**
 * Reads a response as a simulated device does that sends one report a request: a 200 acknowledges one (see
 * `SimulatedDevice.answer`).
 */
export function httpAnswer(
  bytes: Uint8Array,
): "more" | { readonly length: number; readonly accepted: boolean; readonly reports: number } {
  const head = latin1Of(bytes.subarray(0, maximumHead));
  const end = head.indexOf("\r\n\r\n");
  if (end < 0) return bytes.length < maximumHead ? "more" : { length: bytes.length, accepted: false, reports: 0 };
  const body = Number(/\r\ncontent-length: *(\d{1,6})\r\n/i.exec(head.slice(0, end + 2))?.[1] ?? 0);
  const length = end + 4 + body;
  if (bytes.length < length) return "more";
  const accepted = /^HTTP\/1\.1 200 /.test(head);
  return { length, accepted, reports: accepted ? 1 : 0 };
}
