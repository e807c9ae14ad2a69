import assert from "node:assert/strict";
import { createMemoryBus as create } from "../../src/bus/memory.ts";
import type { Bus } from "../../src/ports/bus.ts";

/** The bus of one process, where a listener that throws fails the test. */
export function createMemoryBus(): Bus {
  return create((error) => assert.fail(String(error)));
}
