import assert from "node:assert/strict";
import { after, before } from "node:test";
import { dataFolder, removeFolder, type Service, startService } from "./service.ts";
import { commandLine } from "./waybeam.ts";

/** The command line beside a service of its own, which runs while the tests of the calling file do. */
export function servedCommandLine() {
  const directory = dataFolder();
  let service: Service | undefined;
  const running = () => {
    assert.ok(service);
    return service;
  };
  before(async () => {
    service = await startService(directory);
  });
  after(async () => {
    await service?.stop();
    removeFolder(directory);
  });
  return {
    directory,
    ...commandLine(directory),
    service: running,
    async restart(): Promise<void> {
      await running().stop();
      service = await startService(directory);
    },
  };
}
