import type { TestContext } from "node:test";
import { World } from "./any-order.ts";
import { dataFolder, removeFolder } from "./service.ts";

/** A world that stands for a test, in a folder that goes with it. */
export async function worldFor(context: TestContext): Promise<World> {
  const directory = dataFolder();
  const world = new World(directory);
  await world.start();
  context.after(async () => {
    await world.stop();
    removeFolder(directory);
  });
  return world;
}
