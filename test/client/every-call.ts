// A client whose types are made from the service's OpenAPI document: ./api.ts, by openapi-typescript.
// test/integration/client-types.test.ts compiles and runs it.
import type { operations } from "./api.ts";

type Id = keyof operations;
type Content<T> = T extends { content: { "application/json": infer Json } }
  ? Json
  : T extends { content: { "text/plain": infer Text } }
    ? Text
    : T extends { content: { "application/x-ndjson": infer Line } }
      ? Line
      : T extends { content: { "text/event-stream": infer Event } }
        ? Event
        : T extends { content: { "text/csv": infer File } }
          ? File
          : never;
type Responses<I extends Id> = operations[I]["responses"];
/** What a call answers on success. */
export type Ok<I extends Id> = Content<Responses<I>[Extract<keyof Responses<I>, 200 | 201>]>;
type Place<I extends Id, P extends string> = operations[I] extends { parameters: { [K in P]: infer V } }
  ? { [K in P]: V }
  : operations[I] extends { parameters: { [K in P]?: infer V } }
    ? { [K in P]?: V }
    : unknown;
type Body<I extends Id> = operations[I] extends { requestBody: infer B } ? { body: Content<B> } : unknown;
/** What a call takes. */
export type Input<I extends Id> = Place<I, "path"> & Place<I, "query"> & Place<I, "header"> & Body<I>;
/** What is sent, whatever the call. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}
/** Sends a call; fails where it is refused. */
export type Send = (id: Id, token: string | undefined, sent: Sent) => Promise<unknown>;

/** Every call of the service, from its document. */
export interface Access {
  readonly userName: string;
  readonly apiKey: string;
  /** Of the link that sets the owner's first password. */
  readonly firstToken: string;
  /** The present code of an authenticator with a secret. */
  readonly totp: (secret: string) => string;
  readonly operatorKey: string;
  /** The code that a recipient was sent last. */
  readonly code: () => string;
}

/** Uses every call once, in an order that a service with nothing in it can follow. */
export async function everyCall(send: Send, access: Access): Promise<void> {
  let token: string | undefined;
  const call = <I extends Id>(id: I, input: Input<I>) => send(id, token, input as Sent) as Promise<Ok<I>>;

  await people(call, access);
  const session = await call("requestToken", { body: { userName: access.userName, apiKey: access.apiKey } });
  const ends: number = Date.parse(session.expires);
  if (Number.isNaN(ends)) throw new Error(session.expires);
  token = session.token;

  await devices(call);
  await commands(call);
  await rules(call);
  await recipients(call, access.code);
  await users(call, access.apiKey);
  await groups(call);
  const event = await call("stream", { query: { device: "350000000000017", kind: "location" } });
  if (event.event !== "location") throw new Error(event.event);
  const at: string | undefined = event.data.location?.dateTime;
  if (at === undefined || event.data.status.connected) throw new Error(event.data.deviceId);
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const link = await call("createShare", { body: { deviceId: "350000000000017", expires, name: "Delivery" } });
  token = link.token;
  const seen: string[] = (await call("readShared", {})).devices.map(({ key, name }) => key + name);
  const told = await call("streamShared", {});
  if (seen.length !== 1 || told.event !== "location") throw new Error(seen.join());
  token = session.token;
  const names: string[] = (await call("listShares", {})).shares.map(({ name }) => name);
  if (names.join() !== "Delivery") throw new Error(names.join());
  await call("deleteShare", { path: { shareId: link.share.id } });
  const { licenses } = await call("readAccount", {});
  const free: number = licenses.total - licenses.used;
  if (free !== licenses.free) throw new Error(String(free));
  await call("countOldPositions", { query: { days: "365" } });
  const unknown: string[] = (await call("listQuarantine", {})).quarantine.map(({ ids }) => ids.join());
  if (unknown.length > 0) throw new Error(unknown.join());
  const path = { deviceId: "350000000000017" };
  await call("traceDevice", { path, body: { after: 0 } });
  await call("deleteDevice", { path });
  token = access.operatorKey;
  await operate(call);
}

/** As a browser does it: what it sends is the cookie. */
async function people(call: Call, { userName, firstToken, totp }: Access): Promise<void> {
  const [first, password] = ["a first password", "and another password"];
  const { session } = await call("setFirstPassword", { body: { token: firstToken, password: first } });
  const again = (await call("readSession", {})).session;
  if (again?.csrf !== session.csrf || Number.isNaN(Date.parse(again.expires))) throw new Error(again?.expires);
  const current: boolean[] = (await call("listSignIns", {})).signIns.map((each) => each.current);
  if (current.join() !== "true") throw new Error(current.join());
  await call("changeOwnPassword", { body: { presentSecret: first, password } });
  const begun = await call("makeSecondFactor", { body: { presentSecret: password } });
  const confirmed = await call("makeSecondFactor", { body: { code: totp(begun.secret ?? "") } });
  const codes: readonly string[] = confirmed.recoveryCodes ?? [];
  await call("signOut", {});
  const signed = await call("signIn", { body: { email: userName, password, code: codes[0] ?? null } });
  if (!signed.session.secondFactor) throw new Error(String(begun.uri));
  await call("endSecondFactor", { body: { presentSecret: password } });
  await call("makeSecondFactor", { body: { presentSecret: password } });
  await call("signOutEverywhere", {});
}

type Call = <I extends Id>(id: I, input: Input<I>) => Promise<Ok<I>>;
const range = { from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };
const path = { deviceId: "350000000000017" };

async function devices(call: Call): Promise<void> {
  const made = await call("createDevice", { body: { id: path.deviceId, tags: { plate: "ABC" } } });
  const plate: string | undefined = made.device.tags.plate;
  if (plate !== "ABC" || made.device.name !== path.deviceId) throw new Error(plate);
  const ids: string[] = (await call("listDevices", {})).devices.map(({ id }) => id);
  if (!ids.includes(path.deviceId)) throw new Error(ids.join());
  await call("readDevice", { path });
  await call("replaceDevice", { path, body: { name: "Truck", min: "+573001234567" } });
  const { device } = await call("patchDevice", { path, body: [{ op: "replace", path: "/name", value: "Truck 12" }] });
  if (device.name !== "Truck 12") throw new Error(device.name);
  const renamed = await call("changeDeviceId", { path, body: { id: "350000000000025" } });
  if (renamed.device.id !== "350000000000025") throw new Error(renamed.device.id);
  await call("changeDeviceId", { path: { deviceId: renamed.device.id }, body: { id: path.deviceId } });
  const limits = await call("replaceLimits", { path, body: { dailySmsLimit: 3 } });
  const { dailySmsLimit, smsSentToday } = await call("readLimits", { path });
  if (limits.dailySmsLimit !== dailySmsLimit || smsSentToday !== 0) throw new Error(String(dailySmsLimit));
  const { lastLocation } = await call("readLastLocation", { path });
  const place: [number, number] | null = lastLocation && [lastLocation.latitude, lastLocation.longitude];
  if (place !== null) throw new Error(place.join());
  const page = await call("listLocations", { path, body: { ...range, limit: 10 } });
  const cursor: string | undefined = page.nextCursor;
  const speeds: (number | undefined)[] = page.locations.map(({ speed }) => speed);
  if (cursor !== undefined || speeds.length > 0) throw new Error(cursor);
  const { readings } = await call("listReadings", { path, body: range });
  const batteries: (number | undefined)[] = readings.map(({ battery }) => battery);
  if (batteries.length > 0) throw new Error(batteries.join());
  const { trips, stops } = await call("listTrips", { path, body: range });
  const ways: number[] = [
    ...trips.map(({ distance }) => distance),
    ...stops.map(({ durationSeconds }) => durationSeconds),
  ];
  const file = await call("exportLocations", { path, query: { ...range, format: "csv", units: "us" } });
  if (!file.includes("speed (mph)")) throw new Error(file);
  const { days } = await call("listDays", { path, body: { ...range, timeZone: "America/Bogota" } });
  if (ways.length + days.length > 0) throw new Error(ways.join());
  const { alerts } = await call("listAlerts", { path, body: { ...range, alertName: "Speed" } });
  const texts: string[] = alerts.map(({ text, notifications }) => text + notifications.join());
  const { refused } = await call("listRefused", { path });
  const { identity } = await call("readIdentity", { path });
  const { oldPositions } = await call("countOldPositionsOfDevice", { path, query: { days: "365" } });
  const old: number = oldPositions.positions;
  if (old > 0) throw new Error(oldPositions.from ?? "");
  const barred: number[] = identity.refused.map(({ attempts }) => attempts);
  if (texts.length + refused.length + barred.length > 0) throw new Error(texts.join());
  // @ts-expect-error -- a range needs its end
  const halfRange: Input<"listLocations">["body"] = { from: range.from };
  // @ts-expect-error -- the field is spelled as in the specification: milleage
  const spelled = (location: Ok<"listLocations">["locations"][number]) => location.mileage;
  void [halfRange, spelled];
}

async function commands(call: Call): Promise<void> {
  const header = { "idempotency-key": "once" };
  const { result } = await call("sendCommand", {
    path,
    header,
    body: { command: "78 78", format: "Hex", ttlSeconds: 60 },
  });
  const said: string = result;
  const [command] = (await call("listCommands", { path, query: { limit: "10" } })).commands;
  if (command === undefined || command.state !== "queued") throw new Error(`${said} ${command?.state}`);
  const cancelled = await call("cancelCommand", { path: { ...path, commandId: command.id } });
  const success: true = cancelled.success;
  if (!success) throw new Error(said);
  // @ts-expect-error -- there is no such format
  const body: Input<"sendCommand">["body"] = { command: "x", format: "Morse" };
  void body;
}

async function rules(call: Call): Promise<void> {
  const geometry: Input<"createGeofence">["body"]["geometry"] = { type: "Point", coordinates: [-74, 4.7], radius: 0.5 };
  const zone = await call("createGeofence", { body: { name: "Depot", geometry } });
  const zonePath = { geofenceId: zone.id };
  const radius: number | undefined = (await call("readGeofence", { path: zonePath })).geometry.radius;
  await call("replaceGeofence", { path: zonePath, body: { name: "Yard", geometry } });
  await call("patchGeofence", { path: zonePath, body: [{ op: "replace", path: "/geometry/radius", value: 1 }] });
  const zones: string[] = (await call("listGeofences", {})).geofences.map(({ name }) => name);
  if (radius !== 0.5 || zones.join() !== "Yard") throw new Error(zones.join());
  const speed = { name: "Speed", type: "speedOver" as const, parameters: { kmh: 80 }, devices: [path.deviceId] };
  const rule = await call("createAlertRule", { body: speed });
  const rulePath = { ruleId: rule.id };
  const problems: string[] = (await call("readAlertRule", { path: rulePath })).problems;
  await call("replaceAlertRule", {
    path: rulePath,
    body: { ...speed, type: "allowedZone", parameters: { zones: [zone.id] } },
  });
  await call("patchAlertRule", { path: rulePath, body: [{ op: "replace", path: "/enabled", value: false }] });
  const copy = await call("copyAlertRule", { path: rulePath, body: { devices: ["350000000000025"] } });
  await call("deleteAlertRule", { path: { ruleId: copy.id } });
  const line = await call("tryAlertRule", { body: { ...range, deviceId: path.deviceId, rule: speed } });
  if (!("positions" in line) || problems.length > 0) throw new Error(problems.join());
  await call("replaceDeviceAlertRules", { path, body: { rules: [{ name: "SOS", type: "sos" }] } });
  const types: string[] = (await call("listDeviceAlertRules", { path })).rules.map(({ type }) => type);
  if (types.join() !== "sos" || (await call("listAlertRules", {})).rules.length !== 1) throw new Error(types.join());
  await call("deleteGeofence", { path: zonePath });
  const [notice] = (await call("listNotifications", { path, query: { limit: "10", state: "suppressed" } }))
    .notifications;
  const reason: string | null | undefined = notice?.reason;
  const noticePath = { ...path, notificationId: notice?.id ?? "" };
  const { notification } = await call("resendNotification", { path: noticePath });
  if (notification.state !== "queued") throw new Error(String(reason));
  await accountAlerts(call, notification.alertId);
  await mutes(call);
  // @ts-expect-error -- a rule of this type needs its limit
  const limitless: Input<"createAlertRule">["body"] = { name: "Speed", type: "speedOver", parameters: {} };
  void limitless;
}

async function accountAlerts(call: Call, id: string): Promise<void> {
  const { alerts } = await call("listAccountAlerts", { query: { state: "open", device: path.deviceId, limit: "10" } });
  const names: string[] = alerts.map(({ deviceName }) => deviceName);
  if (!alerts.some((alert) => alert.id === id)) throw new Error(names.join());
  const [seen] = (await call("acknowledgeAlerts", { body: { ids: [id], note: "mine" } })).alerts;
  const note: string | null | undefined = seen?.acknowledgement?.note;
  const [closed] = (await call("closeAlerts", { body: { ids: [id] } })).alerts;
  if (note !== "mine" || closed?.state !== "closed") throw new Error(closed?.state);
}

async function mutes(call: Call): Promise<void> {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const { mute } = await call("muteDevice", { path, body: { until, note: "in the workshop" } });
  const user: string | undefined = mute?.user;
  const [rule] = (await call("listAlertRules", {})).rules;
  const rulePath = { ruleId: rule?.id ?? "" };
  await call("muteAlertRule", { path: rulePath, body: { until, critical: true } });
  const both: (string | undefined)[] = (await call("listMutes", {})).mutes.map(
    ({ deviceId, ruleId }) => deviceId ?? ruleId,
  );
  if (both.join() !== `${path.deviceId},${rule?.id}`) throw new Error(`${user} ${both.join()}`);
  const ends = [
    (await call("readDeviceMute", { path })).mute,
    (await call("readAlertRuleMute", { path: rulePath })).mute,
  ];
  if (ends.some((one) => one?.until !== until)) throw new Error(JSON.stringify(ends));
  await call("unmuteDevice", { path });
  await call("unmuteAlertRule", { path: rulePath });
}

async function recipients(call: Call, code: () => string): Promise<void> {
  const to = "ops@example.org";
  const { recipient } = await call("askRecipient", { body: { to } });
  const { id: account } = await call("readAccount", {});
  const { state } = await call("answerAsRecipient", { body: { account, to, code: code(), answer: "confirm" } });
  const states: string[] = (await call("listRecipients", {})).recipients.map((each) => each.state);
  const kept = await call("deleteRecipient", { path: { recipientId: recipient.id } }).then(
    () => "deleted",
    (error: unknown) => String(error),
  );
  if (!kept.includes("can't be deleted")) throw new Error(kept);
  if (recipient.state !== "pending" || states.join() !== state) throw new Error(state);
}

async function users(call: Call, presentSecret: string): Promise<void> {
  const body = { name: "Ana", email: "ana@example.com", country: "CO", timeZone: "America/Bogota" };
  const { countries } = await call("listCountries", {});
  const { timeZones } = await call("listTimeZones", {});
  if (countries.CO === undefined || timeZones[body.timeZone] === undefined) throw new Error(body.country);
  const made = await call("createUser", { body });
  const path = { userId: made.id };
  const hidden: null = made.password;
  const user = await call("readUser", { path });
  const group: string | null = user.group;
  if (group !== hidden) throw new Error(String(group));
  await call("replaceUser", { path, body: { ...body, privileges: ["read"] } });
  await call("patchUser", { path, body: [{ op: "add", path: "/tags", value: { office: "Bogotá" } }] });
  const emails: string[] = (await call("listUsers", {})).users.map(({ email }) => email);
  if (!emails.includes(body.email)) throw new Error(emails.join());
  const apiKey: string = (await call("createApiKey", { path, body: { presentSecret } })).apiKey;
  if (apiKey.length < 16) throw new Error(apiKey);
  const since: string | null | undefined = (await call("readApiKey", { path })).key?.creation;
  if (since === undefined || since === null) throw new Error(apiKey);
  await call("deleteApiKey", { path });
  const owner = (await call("listUsers", {})).users.find(({ id }) => id !== made.id);
  await call("endSecondFactorOfUser", { path: { userId: owner?.id ?? "" }, body: { presentSecret } });
  await call("deleteUser", { path });
  // @ts-expect-error -- a user needs an address
  const nobody: Input<"createUser">["body"] = { name: "x", country: "CO", timeZone: "America/Bogota" };
  void nobody;
}

async function groups(call: Call): Promise<void> {
  const made = await call("createGroup", { body: { name: "Trucks", devices: ["350000000000017"] } });
  const path = { groupId: made.id };
  await call("readGroup", { path });
  await call("replaceGroup", { path, body: { name: "Vans" } });
  const { devices } = await call("patchGroup", { path, body: [{ op: "test", path: "/name", value: "Vans" }] });
  const names: string[] = (await call("listGroups", {})).groups.map(({ name }) => name);
  if (devices.length > 0 || !names.includes("Vans")) throw new Error(names.join());
  await call("deleteGroup", { path });
}

async function operate(call: Call): Promise<void> {
  const licenses = 5;
  const account = { name: "North", timeZone: "America/Bogota", licenses };
  const owner = { name: "Eva", email: "eva@example.com", country: "CO", timeZone: account.timeZone };
  const made = await call("createAccount", { body: { ...account, owner } });
  const key: string = made.owner.apiKey;
  const path = { accountId: made.account.id };
  await call("readAccountById", { path });
  await call("replaceAccount", { path, body: { ...account, licenses: 6 } });
  const patched = await call("patchAccount", { path, body: [{ op: "replace", path: "/licenses", value: 7 }] });
  await call("countOldPositionsOfAccount", { path, query: { days: "30" } });
  const again: string = (await call("createOwnerApiKey", { path })).owner.apiKey;
  if (again === key) throw new Error("the same key");
  const { accounts } = await call("listAccounts", {});
  if (key === "" || patched.account.licenses.total !== 7 || accounts.length < 2) throw new Error("accounts");
  const live: true = (await call("live", {})).live;
  const { ready, checks } = await call("ready", {});
  const kinds: string[] = (await call("readPublicKeys", {})).keys.map(({ kty }) => kty);
  if (!live || !ready || checks.store !== "ok" || kinds.length === 0) throw new Error(kinds.join());
}
