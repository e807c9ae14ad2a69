/**
 * Loads what the service is made of: Node.js then keeps its compiled code (NODE_COMPILE_CACHE). `./waybeam` runs it
 * once after an installation, because a service that compiled itself would hold the compiler's memory, some 25 MB, for
 * as long as it runs.
 */
const parts = [
  "app.ts",
  "config/index.ts",
  "cli/commands/serve.ts",
  // These end at once where they are not what they are made for: without arguments, and outside a worker. They are
  // compiled by then.
  "main.ts",
  "store/sqlite/writer.ts",
  "store/sqlite/reader.ts",
];
await Promise.allSettled(parts.map((part) => import(`../src/${part}`)));
