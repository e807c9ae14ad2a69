import { DatabaseSync } from "node:sqlite";
import type { PackerCalls } from "./messages.ts";
import { Packing } from "./packing.ts";
import { databaseFile, plain, serve } from "./serve.ts";

/** Reading never waits for the writer (WAL); only a log that is being recovered makes it wait, ms. */
const busyTimeoutMs = 1000;

/** The worker that packs blocks, so that neither commits nor readers wait for packing. It only reads the database; the writer stores the blocks. */
class Packer {
  readonly database = new DatabaseSync(databaseFile(), { readOnly: true, timeout: busyTimeoutMs });
  readonly packing: Packing;

  constructor() {
    // Small, because each chunk is read once.
    this.database.exec("pragma cache_size = -4000");
    this.packing = new Packing(this.database);
  }
}

let opened: Packer | undefined;
/** Opened by a call, so that a failure to open is that call's answer. */
function packer(): Packer {
  opened ??= new Packer();
  return opened;
}

serve<PackerCalls>({
  seal: (request) => {
    const answer = packer().packing.seal(request);
    return { answer, transfer: answer?.blocks.map(({ data }) => data.buffer) ?? [] };
  },
  close: () => {
    opened?.database.close();
    return plain(null);
  },
});
