import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { Groups } from "../groups.ts";
import type { DeviceScope, Visibility } from "../visibility.ts";
import type { LiveKind } from "./changes.ts";

/** A rectangle of the map, edges included; `west` is greater than `east` where it spans the antimeridian. */
export interface LiveBox {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** What somebody wants to be told. */
export interface Wanted {
  readonly kinds: ReadonlySet<LiveKind>;
  /** Only these devices; undefined: all that the user sees. */
  readonly devices: ReadonlySet<string> | undefined;
  /** Only the devices of these groups. */
  readonly groups: readonly string[] | undefined;
  /** Only devices within it. */
  readonly box: LiveBox | undefined;
}

/** The devices that the user sees and wants. A group that is gone, or that the user sees no longer, has none. */
export async function scopeOf(
  user: User,
  { devices, groups: wanted }: Pick<Wanted, "devices" | "groups">,
  visibility: Visibility,
  groups: Pick<Groups, "find">,
): Promise<DeviceScope> {
  const seen = await visibility.scope(user);
  if (devices === undefined && wanted === undefined) return seen;
  let ids: ReadonlySet<string> | undefined = seen.all ? undefined : seen.ids;
  if (devices !== undefined) ids = ids?.intersection(devices) ?? devices;
  if (wanted !== undefined) {
    const members = new Set<string>();
    for (const id of wanted) for (const device of await membersOf(user, id, groups)) members.add(device);
    ids = ids?.intersection(members) ?? members;
  }
  return { all: false, ids: ids ?? new Set() };
}

async function membersOf(user: User, id: string, groups: Pick<Groups, "find">): Promise<readonly string[]> {
  try {
    return (await groups.find(user, id)).devices ?? [];
  } catch (error) {
    if (error instanceof ApiError && error.code === "groupNotFound") return [];
    throw error;
  }
}

/** Whether both hold the same devices. */
export function sameScope(one: DeviceScope, other: DeviceScope): boolean {
  if (one.all || other.all) return one.all === other.all;
  return one.ids === other.ids || (one.ids.size === other.ids.size && one.ids.isSubsetOf(other.ids));
}

/** Whether a position lies in the box. */
export function holdsPosition(
  { west, south, east, north }: LiveBox,
  { latitude, longitude }: { readonly latitude: number; readonly longitude: number },
): boolean {
  if (latitude < south || latitude > north) return false;
  return west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east;
}
