import { fewPositions, GeofenceBody, type GeofenceView, mostPositions } from "../contract/geofence.ts";
import type { PatchRequest } from "../contract/patch.ts";
import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import { zoneOfGeoJson } from "../geo/geojson.ts";
import { geometryOfZone, geometryTextOf } from "../geo/geometry-text.ts";
import type { User } from "../model/account.ts";
import { type Geofence, type GeofenceText, positionsOf, type Zone } from "../model/geofence.ts";
import type { InTurn, Steps } from "../model/steps.ts";
import type { GeofenceFields, GeofenceStore, ReadPositions } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { Store } from "../ports/store.ts";
import { createRuleRights } from "./alert-rule-rights.ts";
import { unknownFields, unknownParts } from "./bodies.ts";
import { patched } from "./json-patch.ts";
import { type Listed, listedOf } from "./listed.ts";
import { createChanges } from "./locks.ts";
import type { Visibility } from "./visibility.ts";

/** A geofence after a change, and what of the change is probably a mistake. */
export interface ChangedGeofence {
  readonly geofence: Geofence;
  readonly warnings: readonly string[];
}

/**
 * The geofences of accounts, which all users of the account see. Calls that name one fail with `geofenceNotFound` where
 * it is unknown or of another account. A zone decides what the rules that name it find, so who does not see one of
 * these rules can't change or delete it (`permissionDenied`).
 */
export interface Geofences {
  /** In the order of their making. */
  page(caller: User, ask: PageAsk): Promise<Listed<GeofenceText>>;
  find(caller: User, id: string): Promise<Geofence>;
  /** @throws ApiError `invalidInput`, `geofenceLimit` */
  create(caller: User, body: GeofenceBody): Promise<ChangedGeofence>;
  /** @throws ApiError as `create` */
  replace(caller: User, id: string, body: GeofenceBody): Promise<ChangedGeofence>;
  /** `check` is the check of a PUT's body; it throws an ApiError. */
  patch(
    caller: User,
    id: string,
    operations: PatchRequest,
    check: (body: unknown) => GeofenceBody,
  ): Promise<ChangedGeofence>;
  /** Answers warnings: of the rules that named it. */
  remove(caller: User, id: string): Promise<readonly string[]>;
}

/** What geofences need of the service. */
export interface GeofencesContext {
  readonly store: Pick<Store, "geofences" | "alertRules" | "groups">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly visibility: Visibility;
  /** Does work of an account in steps, between which others are served. */
  readonly inTurn: InTurn;
}

const settable: readonly string[] = Object.keys(GeofenceBody.properties);
const writable: ReadonlySet<string> = new Set(settable);
/** Fields that a body may hold as they were answered; they can't be set. */
const shownFields: readonly string[] = ["id", "creation", "modification"];

/** A geofence as the API shows it. */
export function geofenceView({ id, name, description, zone, creation, modification }: Geofence): GeofenceView {
  return {
    id,
    name,
    description,
    geometry: geometryOfZone(zone),
    creation: formatInstant(creation),
    modification: formatInstant(modification),
  };
}

/** The same as JSON text, of a zone whose text is not read. */
export function geofenceJson({ zoneText, id, name, description, creation, modification }: GeofenceText): string {
  const times = { creation: formatInstant(creation), modification: formatInstant(modification) };
  return `${JSON.stringify({ id, name, description }).slice(0, -1)},"geometry":${geometryTextOf(zoneText)},${JSON.stringify(times).slice(1)}`;
}

/** The geofences over their store. */
export function createGeofences({ store, bus, clock, ids, visibility, inTurn }: GeofencesContext): Geofences {
  const { geofences } = store;
  const rights = createRuleRights(store, visibility);
  // A change is made from what was read before it, so the changes of an account's geofences follow each other.
  const alone = createChanges<number>();

  async function find(caller: User, id: string): Promise<Geofence> {
    const geofence = await geofences.find(id);
    if (geofence?.accountKey !== caller.accountKey) throw new ApiError("geofenceNotFound");
    return geofence;
  }

  /** How many rules name it. Fails where the caller does not see them all. */
  async function usesOf(caller: User, { id }: Geofence): Promise<number> {
    const { seen, unseen } = await rights.naming(caller, { zone: id });
    if (unseen > 0) throw new ApiError("permissionDenied", ["a rule that the user does not see names this geofence"]);
    return seen;
  }

  function changed(accountKey: number): void {
    bus.publish({ type: "rulesChanged", accountKey });
  }

  async function replace(caller: User, geofence: Geofence, body: GeofenceBody): Promise<ChangedGeofence> {
    const fields = await inTurn(caller.accountKey, readGeofence(body));
    await usesOf(caller, geofence);
    const positions = await checkRoom(geofences, caller.accountKey, fields.zone, geofence);
    const replaced = await geofences.replace(geofence.key, fields, clock.now(), { geofence, positions });
    if (replaced === undefined) throw new ApiError("geofenceNotFound");
    changed(caller.accountKey);
    return { geofence: replaced, warnings: warningsOf(body) };
  }

  return {
    page: async (caller, ask) => listedOf(await geofences.page(caller.accountKey, ask)),
    find,
    create: (caller, body) =>
      alone(caller.accountKey, async () => {
        const { accountKey } = caller;
        const fields = await inTurn(accountKey, readGeofence(body));
        const positions = await checkRoom(geofences, accountKey, fields.zone);
        const made = await geofences.create(accountKey, ids.uuid(), fields, clock.now(), positions);
        changed(accountKey);
        return { geofence: made, warnings: warningsOf(body) };
      }),
    replace: (caller, id, body) => alone(caller.accountKey, async () => replace(caller, await find(caller, id), body)),
    patch: (caller, id, operations, check) =>
      alone(caller.accountKey, async () => {
        const geofence = await find(caller, id);
        return replace(caller, geofence, check(patched({ ...geofenceView(geofence) }, operations, writable)));
      }),
    remove: (caller, id) =>
      alone(caller.accountKey, async () => {
        const geofence = await find(caller, id);
        const uses = await usesOf(caller, geofence);
        if (!(await geofences.remove(geofence.key))) throw new ApiError("geofenceNotFound");
        changed(caller.accountKey);
        return uses === 0 ? [] : [`alert rules that name it and can't watch it any more: ${uses}`];
      }),
  };
}

/**
 * Fails where the account would have too many positions. `kept`: the geofence that makes room for the new one. Resolves
 * with what it was judged by, if anything.
 */
async function checkRoom(
  geofences: Pick<GeofenceStore, "positions">,
  accountKey: number,
  zone: Zone,
  kept?: Geofence,
): Promise<ReadPositions | undefined> {
  const positions = positionsOf(zone);
  if (positions <= fewPositions || (kept !== undefined && positions <= positionsOf(kept.zone))) return undefined;
  const others = { few: fewPositions, besides: kept?.key };
  const sum = await geofences.positions(accountKey, others.few, others.besides);
  if (positions + sum > mostPositions)
    throw new ApiError("geofenceLimit", [
      `the account's geofences of more than ${fewPositions} positions have ${mostPositions} together at most`,
    ]);
  return { ...others, sum };
}

/** @throws ApiError `invalidInput` with all that is wrong */
function* readGeofence({ name, description = null, geometry }: GeofenceBody): Steps<GeofenceFields> {
  const problems = name.trim() === "" ? ["body/name: must not be blank"] : [];
  const isFeature = geometry.type === "Feature";
  const { radius, width, ...plain } = geometry;
  const read = yield* zoneOfGeoJson(
    isFeature ? geometry : { type: "Feature", geometry: plain, properties: { radius, width } },
  );
  if (read.ok && problems.length === 0) return { name, description, zone: read.zone };
  // Here the feature's parts stand at other places.
  const placed = (problem: string) =>
    isFeature ? `/geometry${problem}` : problem.replace(/^\/properties/, "/geometry");
  throw new ApiError("invalidInput", [
    ...problems,
    ...(read.ok ? [] : read.problems).map((problem) =>
      problem.startsWith("/") ? `body${placed(problem)}` : `body/geometry: ${problem}`,
    ),
  ]);
}

function warningsOf(body: GeofenceBody): readonly string[] {
  const { geometry } = body;
  return [
    ...unknownFields(body, settable, shownFields),
    ...(geometry.type === "Feature" ? [] : unknownParts(geometry, GeofenceBody.properties.geometry, "body/geometry")),
  ];
}
