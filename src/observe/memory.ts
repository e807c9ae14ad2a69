/**
 * Gives back what loading and building left behind, before anybody can be kept waiting: some 15 MB that no collection
 * would look for before the heap has doubled; it takes 0.1 s. The launcher allows it by `--expose-gc`; without that
 * nothing happens.
 */
export function giveBackMemory(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
