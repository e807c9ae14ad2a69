import assert from "node:assert/strict";
import { createMemoryBus as create, type MemoryBus } from "../../src/bus/memory.ts";

/** The bus of one process, where a listener that throws fails the test. */
export function createMemoryBus(): MemoryBus {
  return create((error) => assert.fail(String(error)));
}
