import type { DeviceKey } from "../../model/device.ts";
import type { SaidRecord } from "../../model/said.ts";
import type { PositionStore, RenderAsk, RenderedPage } from "../../ports/positions.ts";
import { recordFactsOf } from "./record-facts.ts";
import type { WholeRecord } from "./record-view.ts";
import { RenderedRecords } from "./rendered.ts";
import { ByteSink } from "./sink.ts";

/** What is folded and written between two turns of the event loop: some milliseconds. */
const size = { records: 500, bytes: 256 * 1024 };

/** `PositionStore.render` of an engine that gives records as values. */
export async function renderRead(
  store: Pick<PositionStore, "read">,
  device: DeviceKey,
  ask: RenderAsk,
): Promise<RenderedPage> {
  const { from, to, after, behind, limit } = ask;
  // How many are to be folded before those that are written, nobody knows.
  const most = behind.time > from ? size.records : Math.min(size.records, limit);
  const read = await store.read(device, { from, to, ...(after && { after }), limit: most });
  const page = new RenderedRecords(ask, size, new ByteSink(16 * 1024));
  const damage = read.unreadable.toSorted((one, other) => one.from - other.from)[0];
  let { time, nth } = after ?? { time: Number.NaN, nth: 0 };
  for (const record of read.records) {
    if (damage !== undefined && record.time >= damage.from) break;
    nth = record.time === time ? nth + 1 : 1;
    time = record.time;
    if (!page.add(wholeOf(record), nth)) return page.page({ more: true });
  }
  if (damage !== undefined) return page.page({ damage });
  if (read.next === undefined) return page.page();
  if (page.isPending) {
    const [next] = (await store.read(device, { from: read.next.time, to, after: read.next, limit: 1 })).records;
    page.follows(next?.time);
  }
  return page.page({ more: true });
}

function wholeOf(record: SaidRecord): WholeRecord {
  const { extras, unlocated = false, speed, course } = record;
  const facts = recordFactsOf(extras);
  return { ...record, unlocated, speed, course, facts, appendExtras: (sink: ByteSink) => sink.text(extras) };
}
