import { setImmediate as nextTurn } from "node:timers/promises";
import { chance, delivery, drive, World } from "./any-order.ts";
import { openPostgres } from "./postgres-store.ts";

/*
 * A process that is killed: delivers the reports of a history from one on, says how many are stored after each commit, and seals all the while.
 * Arguments: the data folder or the address of the database, the device, the seed of the history, how many reports are stored.
 */
const [place = "", device = "", seed = "0", from = "0"] = process.argv.slice(2);
const random = chance(Number(seed));
const delivered = delivery(drive(random, 20_000), random, "late parts");
const world = place.startsWith("postgresql:") ? new World(place, openPostgres) : new World(place);
await world.start();
const admitted = await world.admitted(device);

let delivers = true;
const seals = async () => {
  while (delivers) {
    await world.store.seal(admitted.key);
    await nextTurn();
  }
};
const sealing = seals();
for (let at = Number(from); at < delivered.length; ) {
  const some = delivered.slice(at, at + Math.ceil(Math.random() * 60));
  await world.deliver(admitted, some);
  at += some.length;
  console.log(at);
}
delivers = false;
await sealing;
await world.stop();
