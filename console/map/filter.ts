import { deviceStates } from "../live/states.ts";
import type { FleetStore } from "../live/store.ts";

/** What a person wants to see. */
export interface Wish {
  /** Part of a name, an id, a number or a tag. */
  readonly text: string;
  /** Ids of the devices of the chosen group; undefined: all. */
  readonly group: ReadonlySet<string> | undefined;
  /** Numbers of the states that are wanted; empty: all. */
  readonly states: ReadonlySet<number>;
}

/** What is searched of a device. */
export interface Searched {
  readonly id: string;
  readonly name: string;
  readonly min?: string | null;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Devices that match, in the order given, and how many of group and text are in each state. */
export interface Matches<D extends Searched> {
  readonly devices: readonly D[];
  /** By row of the store: 1 is shown; undefined: all are. */
  readonly shown: Uint8Array | undefined;
  /** In the order of `deviceStates`. */
  readonly counts: readonly number[];
}

/** The devices that a person wants to see. One that never reported is offline, and listed. */
export function matchesOf<D extends Searched>(store: FleetStore, devices: readonly D[], wish: Wish): Matches<D> {
  const text = wish.text.trim().toLowerCase();
  const all = text === "" && wish.group === undefined && wish.states.size === 0;
  const counts = deviceStates.map(() => 0);
  const shown = new Uint8Array(store.rows);
  const offline = deviceStates.indexOf("offline");
  const found = devices.filter((device) => {
    if (wish.group !== undefined && !wish.group.has(device.id)) return false;
    if (text !== "" && !hasText(device, text)) return false;
    const row = store.rowOf(device.id);
    const state = row === undefined ? offline : (store.state[row] ?? offline);
    counts[state] = (counts[state] ?? 0) + 1;
    if (wish.states.size > 0 && !wish.states.has(state)) return false;
    if (row !== undefined) shown[row] = 1;
    return true;
  });
  return { devices: found, shown: all ? undefined : shown, counts };
}

/** Whether a name, an id, a number or a tag has the text, which is in lower case. */
export function hasText({ id, name, min, tags = {} }: Searched, text: string): boolean {
  const has = (value: string) => value.toLowerCase().includes(text);
  return has(name) || has(id) || has(min ?? "") || Object.values(tags).some(has);
}
