import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../support/store.ts";
import { storeContract } from "./store.contract.ts";

storeContract("SQLite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "waybeam-store-"));
  return {
    open: () => openStore(directory),
    dispose: () => rm(directory, { recursive: true }),
  };
});
