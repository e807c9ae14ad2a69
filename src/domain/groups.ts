import { type GroupBody, type GroupView, settableGroupFields } from "../contract/group.ts";
import type { PatchRequest } from "../contract/patch.ts";
import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import { holds, type User } from "../model/account.ts";
import type { Group } from "../model/group.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { GroupFields } from "../ports/groups.ts";
import type { Ids } from "../ports/ids.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { Store } from "../ports/store.ts";
import type { WatchWarnings } from "./alert-rule-rights.ts";
import { unknownFields } from "./bodies.ts";
import { checkRulesOfMembers } from "./device-rule-limit.ts";
import { patched } from "./json-patch.ts";
import { type Listed, listedOf } from "./listed.ts";
import { createChanges } from "./locks.ts";
import { createReferences } from "./references.ts";
import { seesGroup, type Visibility } from "./visibility.ts";

/** A group after a change, and what of the change is probably a mistake. */
export interface ChangedGroup {
  readonly group: Group;
  readonly warnings: readonly string[];
}

/**
 * The groups of accounts, as their users may see and change them: with `admin` all of the account, else only those that
 * the user's `group` names. Calls that name a group fail with `groupNotFound` where it is unknown, of another account,
 * or not visible. A group is what its users see, so who has not `admin` can add only devices that it sees already
 * (`permissionDenied`).
 */
export interface Groups {
  /** In the order of their making. */
  page(caller: User, ask: PageAsk): Promise<Listed<Group>>;
  find(caller: User, id: string): Promise<Group>;
  create(caller: User, body: GroupBody): Promise<ChangedGroup>;
  replace(caller: User, id: string, body: GroupBody): Promise<ChangedGroup>;
  /** `check` is the check of a PUT's body; it throws an ApiError. */
  patch(caller: User, id: string, operations: PatchRequest, check: (body: unknown) => GroupBody): Promise<ChangedGroup>;
  /** Answers warnings: of the rules that named it. */
  remove(caller: User, id: string): Promise<readonly string[]>;
}

/** What groups need of the service. */
export interface GroupsContext {
  readonly store: Pick<Store, "groups" | "devices" | "accounts" | "alertRules">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly visibility: Visibility;
  readonly watchWarnings: WatchWarnings;
}

const writable: ReadonlySet<string> = new Set(settableGroupFields);
/** Fields that a body may hold as they were answered; they can't be set. */
const shownFields: readonly string[] = ["id", "creation", "lastModified"];

/** A group as the API shows it. */
export function groupView(group: Group): GroupView {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    devices: [...(group.devices ?? [])],
    creation: formatInstant(group.creation),
    lastModified: formatInstant(group.lastModified),
  };
}

/** The groups over their store. */
export function createGroups({ store, bus, clock, ids, visibility, watchWarnings }: GroupsContext): Groups {
  const groups = store.groups;
  const references = createReferences(store);
  // A change is made from what was read before it, so the changes of one group follow each other.
  const alone = createChanges<string>();

  async function visible(caller: User, id: string): Promise<Group> {
    const group = await groups.find(id);
    if (group === undefined || !seesGroup(caller, group)) throw new ApiError("groupNotFound");
    return group;
  }

  /** Fails where the caller would see more by this change than it does. */
  async function checkGrant(caller: User, { devices }: GroupFields): Promise<void> {
    const { all, ids: seen } = await visibility.scope(caller);
    if (!all && devices?.every((id) => seen.has(id)) === false)
      throw new ApiError("permissionDenied", ["body/devices: only devices that the user sees can be added"]);
  }

  async function changed(group: Group | undefined, warnings: readonly string[]): Promise<ChangedGroup> {
    if (group === undefined) throw new ApiError("groupNotFound");
    const { accountKey, devices } = group;
    bus.publish({ type: "groupChanged", accountKey });
    return { group, warnings: [...warnings, ...(await references.devices(accountKey, "devices", devices ?? []))] };
  }

  async function replace(caller: User, group: Group, body: GroupBody): Promise<ChangedGroup> {
    const fields = readGroup(body);
    await checkGrant(caller, fields);
    await checkRulesOfMembers(store, group.accountKey, group.id, fields.devices ?? []);
    return changed(await groups.replace(group.key, fields, clock.now(), group), warningsOf(body));
  }

  return {
    async page(caller, ask) {
      if (holds(caller, "admin")) return listedOf(await groups.page(caller.accountKey, ask));
      return caller.group === null ? { items: [] } : listedOf(await groups.page(caller.accountKey, ask, caller.group));
    },
    find: visible,
    async create(caller, body) {
      const fields = readGroup(body);
      const { all } = await visibility.scope(caller);
      if (!all && fields.name !== caller.group)
        throw new ApiError("permissionDenied", ["body/name: the user would not see the group"]);
      await checkGrant(caller, fields);
      return changed(await groups.create(caller.accountKey, ids.uuid(), fields, clock.now()), warningsOf(body));
    },
    replace: (caller, id, body) => alone(id, async () => replace(caller, await visible(caller, id), body)),
    patch: (caller, id, operations, check) =>
      alone(id, async () => {
        const group = await visible(caller, id);
        return replace(caller, group, check(patched({ ...groupView(group) }, operations, writable)));
      }),
    remove: (caller, id) =>
      alone(id, async () => {
        const group = await visible(caller, id);
        const { key, accountKey } = group;
        const warnings = await watchWarnings(caller, { group: id });
        if (!(await groups.remove(key, group))) throw new ApiError("groupNotFound");
        bus.publish({ type: "groupChanged", accountKey });
        return warnings;
      }),
  };
}

function readGroup(body: GroupBody): GroupFields {
  if (body.name.trim() === "") throw new ApiError("invalidInput", ["body/name: must not be blank"]);
  return { name: body.name, description: body.description ?? null, devices: body.devices ?? null };
}

function warningsOf(body: GroupBody): readonly string[] {
  return unknownFields(body, settableGroupFields, shownFields);
}
