import type { ListedMute, MuteRequest, MuteView } from "../contract/mute.ts";
import { parseInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import { type Mute, type MuteTarget, mostMuteDays } from "../model/mute.ts";
import type { Clock } from "../ports/clock.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { Store } from "../ports/store.ts";
import type { AlertRules } from "./alert-rules.ts";
import type { Devices } from "./devices.ts";
import { firstSeen, type Listed } from "./listed.ts";
import { muteView, viewOf } from "./mute-view.ts";
import type { Visibility } from "./visibility.ts";

/** A device or rule to mute, by its public id. */
export type MuteSubject = { readonly deviceId: string } | { readonly ruleId: string };

/** Mutes of the devices and rules that a user sees. @throws ApiError `deviceNotFound`, `alertRuleNotFound` */
export interface Mutes {
  /** The mute in force, or null. */
  find(user: User, subject: MuteSubject): Promise<MuteView | null>;
  /** Sets a mute. It replaces an earlier one. @throws ApiError `badRequest` if its end is past or too far ahead */
  set(user: User, subject: MuteSubject, request: MuteRequest): Promise<MuteView>;
  /** Ends the mute, if the device or rule has one. */
  remove(user: User, subject: MuteSubject): Promise<void>;
  /** All mutes in force. */
  page(user: User, ask: PageAsk): Promise<Listed<ListedMute>>;
}

/** What mutes need from the service. */
export interface MutesContext {
  readonly store: Pick<Store, "mutes" | "devices" | "alertRules">;
  readonly clock: Clock;
  readonly devices: Pick<Devices, "find">;
  readonly rules: Pick<AlertRules, "stored" | "seen">;
  readonly visibility: Visibility;
}

const dayMs = 86_400_000;
/** The client computes `until` by its own clock, which may be this far ahead of ours, ms. */
const clockOffMs = 60_000;

/** Makes `Mutes` over their store. */
export function createMutes(context: MutesContext): Mutes {
  const { store, clock, devices, rules } = context;

  async function targetOf(user: User, subject: MuteSubject): Promise<MuteTarget> {
    if ("deviceId" in subject) return { device: (await devices.find(user, subject.deviceId)).key };
    return { rule: (await rules.stored(user, subject.ruleId)).id };
  }

  return {
    async find(user, subject) {
      const [mute] = await store.mutes.some([await targetOf(user, subject)]);
      return muteView(mute, clock.now());
    },
    async set(user, subject, { until: text, note = null, critical = false }) {
      const target = await targetOf(user, subject);
      const since = clock.now();
      const until = untilOf(text, since);
      const mute = { accountKey: user.accountKey, target, since, until, user: user.email, note, critical };
      await store.mutes.set(mute);
      return viewOf(mute);
    },
    async remove(user, subject) {
      await store.mutes.remove(await targetOf(user, subject));
    },
    async page(user, ask) {
      const now = clock.now();
      const names = new Map<number, Pick<ListedMute, "deviceId" | "ruleId" | "name">>();
      const { items, ...next } = await firstSeen(
        ask,
        (part) => store.mutes.page(user.accountKey, now, part),
        async (mutes) => {
          for (const [key, name] of await namesOf(context, user, mutes)) names.set(key, name);
          return mutes.filter(({ key }) => names.has(key));
        },
      );
      return {
        ...next,
        items: items.flatMap((mute) => {
          const name = names.get(mute.key);
          return name === undefined ? [] : { ...name, ...viewOf(mute) };
        }),
      };
    },
  };
}

function untilOf(text: string, now: number): number {
  const until = parseInstant(text);
  if (until === undefined || until <= now) throw new ApiError("badRequest", ["body/until: must be in the future"]);
  if (until > now + mostMuteDays * dayMs + clockOffMs)
    throw new ApiError("badRequest", [`body/until: must be at most ${mostMuteDays} days ahead`]);
  return until;
}

/** The muted devices and rules that the user sees, by the keys of their mutes. */
async function namesOf({ store, rules, visibility }: MutesContext, user: User, mutes: readonly Mute[]) {
  const deviceKeys = mutes.flatMap(({ target }) => ("device" in target ? [target.device] : []));
  const ruleIds = mutes.flatMap(({ target }) => ("rule" in target ? [target.rule] : []));
  const scope = await visibility.scope(user);
  const named = deviceKeys.length === 0 ? [] : await store.devices.named(deviceKeys);
  const devices = new Map(
    named.filter(({ id }) => scope.all || scope.ids.has(id)).map(({ key, id, name }) => [key, { deviceId: id, name }]),
  );
  const seen =
    ruleIds.length === 0 ? [] : await rules.seen(user, await store.alertRules.some(user.accountKey, ruleIds));
  const byId = new Map(seen.map(({ id, name }) => [id, { ruleId: id, name }]));
  return mutes.flatMap(({ key, target }) => {
    const name = "device" in target ? devices.get(target.device) : byId.get(target.rule);
    return name === undefined ? [] : [[key, name] as const];
  });
}
