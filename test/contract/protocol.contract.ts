import { describe, it } from "node:test";
import type { AnyProtocol } from "../../src/wire/protocol.ts";
import type { Vector } from "../support/vectors.ts";
import type { Check } from "./protocol/check.ts";
import { damageChecks } from "./protocol/damage.ts";
import { exactChecks } from "./protocol/exact.ts";
import { extremeChecks } from "./protocol/extremes.ts";
import { simulateChecks } from "./protocol/simulate.ts";
import { streamChecks } from "./protocol/stream.ts";

/** Everything that holds for every protocol, as functions that throw. */
export const protocolChecks: readonly Check[] = [
  ...exactChecks,
  ...streamChecks,
  ...damageChecks,
  ...extremeChecks,
  ...simulateChecks,
];

/** The contract suite of a protocol and its vectors: free for every protocol that is written. */
export function protocolContract(protocol: AnyProtocol, vectors: readonly Vector[]): void {
  describe(`protocol ${protocol.id}`, () => {
    for (const check of protocolChecks) it(check.title, () => check.run(protocol, vectors));
  });
}
