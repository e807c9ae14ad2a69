import type { SharedDevice, SharedPlace } from "../contract/share.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Device } from "../model/device.ts";
import type { Share } from "../model/share.ts";
import type { Clock } from "../ports/clock.ts";
import type { LastLocations } from "../ports/last-location.ts";
import type { Store } from "../ports/store.ts";
import type { Groups } from "./groups.ts";
import type { LiveDevice } from "./live/changes.ts";
import { eventFrame } from "./live/frame.ts";
import { scopeOf, type Wanted } from "./live/scope.ts";
import type { DeviceScope, Visibility } from "./visibility.ts";

/** A link that lasts, and the user through whose eyes it sees. */
export interface HeldShare {
  readonly share: Share;
  readonly user: User;
}

/** What the holders of links see. */
export interface SharedPlaces {
  /**
   * The devices that the link shows now. @throws ApiError `linkNotValid`: there is nothing that it may show any more
   */
  devices(held: HeldShare): Promise<SharedDevice[]>;
  /** The same for its stream, while it lasts. */
  scope(held: HeldShare): Promise<DeviceScope>;
  /** An event of the user's own stream as the holder gets it. */
  shown(share: Share): (frame: Uint8Array, device: LiveDevice) => Uint8Array;
}

/** What they need of the service. */
export interface SharedPlacesContext {
  readonly store: Pick<Store, "devices">;
  readonly visibility: Visibility;
  readonly groups: Pick<Groups, "find">;
  readonly lastLocations: LastLocations;
  readonly clock: Clock;
  /** src/auth/share-token.ts */
  readonly sharedName: (tokenHash: string, device: number) => string;
}

/** What the stream of a link tells: where its devices are. */
export const sharedWanted: Wanted = {
  kinds: new Set(["location"]),
  devices: undefined,
  groups: undefined,
  box: undefined,
};

/** Devices that are read at a time. */
const readAtOnce = 500;

/** What links show, over what their makers see. */
export function createSharedPlaces(context: SharedPlacesContext): SharedPlaces {
  const { store, visibility, groups, lastLocations, clock, sharedName } = context;

  async function scope({ share: { target }, user }: HeldShare): Promise<DeviceScope> {
    if ("group" in target) {
      // The scope of an admin takes any group. The link of a deleted one is not valid, rather than empty.
      await groups.find(user, target.group).catch(notValid);
      return scopeOf(user, { devices: undefined, groups: [target.group] }, visibility, groups);
    }
    const device = await store.devices.findByKey(target.device);
    const isGone = device === undefined || (device.expires !== null && clock.now() >= device.expires);
    if (isGone || !(await visibility.sees(user, device))) throw new ApiError("linkNotValid");
    return { all: false, ids: new Set([device.id]) };
  }

  async function placeOf(device: Device): Promise<SharedPlace | null> {
    const { json } = await lastLocations.latest(device);
    return json === undefined ? null : narrowed(JSON.parse(json));
  }

  return {
    scope,
    async devices({ share, user }) {
      const all = [...(await scope({ share, user })).ids];
      const seen: SharedDevice[] = [];
      for (let at = 0; at < all.length; at += readAtOnce)
        for (const device of await store.devices.some(user.accountKey, all.slice(at, at + readAtOnce), clock.now()))
          seen.push({
            key: sharedName(share.tokenHash, device.key),
            name: device.name,
            location: await placeOf(device),
          });
      return seen;
    },
    shown: (share) => (frame, device) => sharedFrame(frame, sharedName(share.tokenHash, device.key), device.name),
  };
}

function notValid(error: unknown): never {
  throw error instanceof ApiError ? new ApiError("linkNotValid") : error;
}

/** What a map shows of a location, and nothing of what else was reported: drivers, numbers of SIM cards, alerts. */
function narrowed({ dateTime, latitude, longitude, speed, course }: SharedPlace): SharedPlace {
  return {
    dateTime,
    latitude,
    longitude,
    ...(speed !== undefined && { speed }),
    ...(course !== undefined && { course }),
  };
}

const form = /^(?:id: (.*)\n)?event: (\w+)\ndata: (.*)\n\n$/;
const utf8 = new TextDecoder();

function sharedFrame(frame: Uint8Array, key: string, name: string): Uint8Array {
  const [, id, event = "", data = "{}"] = form.exec(utf8.decode(frame)) ?? [];
  const { location }: { readonly location?: SharedPlace | null } = JSON.parse(data);
  const told = event === "location" ? { key, name, location: location ? narrowed(location) : null } : { key };
  return eventFrame(event, JSON.stringify(told), id);
}
