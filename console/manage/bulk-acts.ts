import { allPages, answer, api } from "../api/client.ts";
import type { components } from "../api/schema.ts";

/** A group of devices. */
export type Group = components["schemas"]["Group"];
/** An operation of a JSON patch. */
export type Operation = components["schemas"]["PatchRequest"][number];

/** All groups that the person sees. */
export function readGroups(): Promise<readonly Group[]> {
  return allPages(
    (cursor) => answer(api.GET("/api/groups", { params: { query: cursor ? { cursor } : {} } })),
    (page) => page.groups,
  );
}

/** The pointer of a tag (RFC 6901): "~" is written "~0" and "/" "~1". */
export function tagPath(tag: string): string {
  return `/tags/${tag.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Changes a device by operations. */
export function patchDevice(deviceId: string, body: Operation[]): Promise<unknown> {
  return answer(api.PATCH("/api/devices/{deviceId}", { params: { path: { deviceId } }, body }));
}

/** Takes a tag from a device; one that has none stays as it is. */
export async function removeTag(deviceId: string, tag: string, has: boolean): Promise<void> {
  if (has) await patchDevice(deviceId, [{ op: "remove", path: tagPath(tag) }]);
}

/**
 * Puts devices into a group, or takes them out. Where somebody else has changed it meanwhile, the service refuses, and
 * nothing is lost.
 */
export async function changeGroup(group: Group, ids: ReadonlySet<string>, isIn: boolean): Promise<void> {
  const devices = isIn ? [...new Set([...group.devices, ...ids])] : group.devices.filter((id) => !ids.has(id));
  const body: Operation[] = [
    { op: "test", path: "/devices", value: group.devices },
    { op: "replace", path: "/devices", value: devices },
  ];
  await answer(api.PATCH("/api/groups/{groupId}", { params: { path: { groupId: group.id } }, body }));
}
