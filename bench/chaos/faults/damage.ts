import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLine } from "../../../test/support/waybeam.ts";
import type { Fault, Scene } from "../fault.ts";

/**
 * Changes one bit of a block, of those that there are one by chance. Gives whose it is, and how the bit is changed
 * back; undefined: there is no block.
 */
function flip({ directory, random }: Scene): { device: string; back: () => void } | undefined {
  const positions = new DatabaseSync(join(directory, "positions.db"));
  const blocks = positions.prepare("select id, device from block order by id").all();
  positions.close();
  const block = blocks[Math.floor(random() * blocks.length)];
  if (block === undefined) return undefined;
  const rows = new DatabaseSync(join(directory, "waybeam.db"));
  const owner = rows.prepare("select id from device where key = ?").get(block.device ?? null);
  rows.close();
  const [id, place, bit] = [Number(block.id), random(), 1 << Math.floor(random() * 8)];
  const change = () => {
    const opened = new DatabaseSync(join(directory, "positions.db"));
    const data = opened.prepare("select data from block where id = ?").get(id)?.data;
    if (!(data instanceof Uint8Array)) throw new Error(`block ${id} has no data`);
    const at = Math.floor(place * data.length);
    data[at] = (data[at] ?? 0) ^ bit;
    opened.prepare("update block set data = ? where id = ?").run(data, id);
    opened.close();
  };
  change();
  return { device: String(owner?.id), back: change };
}

/** So many messages of a tracker that sends many records have more than a block's. */
const blockMessages = 60;
/** How long the first block may take, ms: packing gives way to all else, also to other programs. */
const patienceMs = 60_000;

/** Waits until there is a block. */
async function packed({ reported, rest, service, must }: Scene): Promise<void> {
  await reported(blockMessages);
  rest();
  const blocks = async () => Number(/^waybeam_store_blocks (\d+)/m.exec(await service.metrics())?.[1] ?? 0);
  for (const end = performance.now() + patienceMs; performance.now() < end; await sleep(50))
    if ((await blocks()) > 0) return;
  must(false, "there is a block to damage");
}

/** The bit is changed back in the end, so that the ledger holds again. */
export const damage: Fault = {
  name: "damaged-block",
  does: "one bit of a block changes while the service is stopped",
  holds: "`waybeam check` names that device and a range of time, and no other device",
  run: async (scene) => {
    for (let round = 0; round < scene.rounds; round++) {
      await scene.start();
      await scene.report();
      await packed(scene);
      await scene.stop();
      const damaged = flip(scene);
      if (damaged === undefined) continue;
      const { code, out, err } = await commandLine(scene.directory).waybeam(["check"]);
      damaged.back();
      const named = new Set(`${out}${err}`.match(/35298\d{10}/g));
      scene.must(code === 1, `check ends with 1 where a block is damaged, not ${code}`);
      scene.must(named.size === 1 && named.has(damaged.device), `check names ${damaged.device}: ${out}${err}`);
      scene.must(
        /\d{4}-\d\d-\d\dT\S+ to \d{4}-\d\d-\d\dT/.test(`${out}${err}`),
        `check names a range of time: ${out}${err}`,
      );
      scene.count("damaged blocks");
    }
  },
};
