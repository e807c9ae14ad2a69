import type { AnyProtocol } from "../../../src/wire/protocol.ts";
import type { Vector } from "../../support/vectors.ts";

/** One thing that holds for every protocol. `run` throws an assertion error where it does not. */
export interface Check {
  readonly title: string;
  readonly run: (protocol: AnyProtocol, vectors: readonly Vector[]) => void;
}
