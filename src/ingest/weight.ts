import type { DeviceCommit } from "../model/commit.ts";

/** Memory that a commit's parts take beside their texts, on its way and in the writer, bytes (estimates). */
const deviceBytes = 500;
const recordBytes = 400;
const patchBytes = 300;
const shiftBytes = 200;
const alertBytes = 1000;
const noticeBytes = 1000;
const endBytes = 200;

/** Memory that what is committed of a device takes, bytes (an estimate). */
export function weightOf(commit: Omit<DeviceCommit, "device">): number {
  const { records, patches, shifts, state, alerts, notices, ended } = commit;
  let bytes =
    deviceBytes + patches.length * patchBytes + (shifts?.length ?? 0) * shiftBytes + (state.rules?.length ?? 0);
  for (const { extras, alerts: members } of records) bytes += recordBytes + extras.length + (members?.length ?? 0);
  if (alerts !== undefined) for (const { text } of alerts) bytes += alertBytes + text.length;
  return bytes + (notices?.length ?? 0) * noticeBytes + (ended?.length ?? 0) * endBytes;
}
