import type { TotalsPatch } from "../../model/commit.ts";
import type { DeviceChunks } from "./device-chunks.ts";

/** Patches that lie near each other. */
interface PatchGroup {
  from: number;
  to: number;
  readonly patches: TotalsPatch[];
}

/** The most chunks that begin within the time of one group: who reads one of the chunks reads the group's patches. */
const chunksOfGroup = 8;

/** Patches in groups: those of late records that lie far apart in a device's history concern different readers. */
export function groupsOf(patches: readonly TotalsPatch[], chunks: DeviceChunks): readonly PatchGroup[] {
  const groups: PatchGroup[] = [];
  let begin = 0;
  for (const patch of patches) {
    const { time } = patch;
    const at = chunks.position(time, 0);
    const last = groups.at(-1);
    if (last === undefined || Math.abs(at - begin) > chunksOfGroup) {
      groups.push({ from: time, to: time, patches: [patch] });
      begin = at;
      continue;
    }
    last.from = Math.min(last.from, time);
    last.to = Math.max(last.to, time);
    last.patches.push(patch);
  }
  return groups;
}
