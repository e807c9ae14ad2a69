import { chance, delivery, drive, World } from "./any-order.ts";
import { openPostgres } from "./postgres-store.ts";
import { openStore } from "./store.ts";

/*
 * A process that delivers a history to a device (place, id, seed, how many reports were acknowledged before) and packs
 * all the while. It prints how many are acknowledged, until it is killed.
 */
const [place = "", id = "", seed = "", from = ""] = process.argv.slice(2);
const random = chance(Number(seed));
const delivered = delivery(drive(random, 20_000), random, "late parts");
const world = new World(place, place.includes("://") ? openPostgres : openStore);
await world.start();
const admitted = await world.admitted(id);
const packing = async (): Promise<never> => {
  for (;;) {
    await world.pack();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
packing().catch(() => undefined);
for (let at = Number(from); at < delivered.length; at += 40) {
  await world.deliver(admitted, delivered.slice(at, at + 40));
  process.stdout.write(`${Math.min(at + 40, delivered.length)}\n`);
}
process.exit();
