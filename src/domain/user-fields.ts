import { formatInstant, parseInstant } from "../contract/time.ts";
import type { UserBody, UserView } from "../contract/user.ts";
import { settableUserFields } from "../contract/user.ts";
import { ApiError } from "../errors/catalogue.ts";
import { holds, type User } from "../model/account.ts";
import type { UserFields } from "../ports/store.ts";
import { unknownFields } from "./bodies.ts";
import { isCountry } from "./countries.ts";
import { isEmail } from "./email.ts";
import { isTimeZone } from "./time-zones.ts";

/** Fields that a body may hold as they were answered; they can't be set. */
const shownFields: readonly string[] = ["id", "creation", "modification", "lastLogin"];

/** What a body sets but for the password, and the password as it came; undefined: the body sets none. */
export interface ReadUser {
  readonly fields: Omit<UserFields, "passwordHash">;
  readonly password: string | undefined;
  readonly warnings: readonly string[];
}

/** A user as the API shows it. */
export function userView(user: User): UserView {
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    country: user.country,
    timeZone: user.timeZone,
    description: user.description,
    message: user.message,
    disabled: user.disabled,
    disabledMessage: user.disabledMessage,
    tags: { ...user.tags },
    privileges: [...(user.privileges ?? [])],
    group: user.group,
    deviceId: user.deviceId,
    adminDevices: user.adminDevices,
    from: instant(user.from),
    expires: instant(user.expires),
    password: null,
    creation: formatInstant(user.creation),
    modification: formatInstant(user.modification),
    lastLogin: instant(user.lastLogin),
  };
}

/**
 * What a body sets on a new user or on `kept`; what it leaves out is reset. `body` has passed its schema. What it
 * leaves as it is stored is not checked again: the service's first owner has no country.
 * @throws ApiError `invalidEmail`, `invalidInput`, or `ownerProtected`: the account's owner would lose `admin`, or its
 * way in
 */
export function readUser(body: UserBody, kept?: User): ReadUser {
  if (body.email !== kept?.email && !isEmail(body.email))
    throw new ApiError("invalidEmail", ["body/email: is malformed"]);
  const problems: string[] = [];
  if (body.name.trim() === "") problems.push("body/name: must not be blank");
  if (body.country !== kept?.country && !isCountry(body.country))
    problems.push("body/country: must be an ISO 3166-1 alpha-2 or alpha-3 code, or an English name");
  if (body.timeZone !== kept?.timeZone && !isTimeZone(body.timeZone))
    problems.push("body/timeZone: must be an IANA name of the form Region/City");
  const from = moment(body.from);
  const expires = moment(body.expires);
  if (from !== null && expires !== null && from > expires) problems.push("body/expires: must not be before body/from");
  if (problems.length > 0) throw new ApiError("invalidInput", problems);
  const fields = { ...plainFields(body), from, expires };
  if (kept?.owner === true && !holds(fields, "admin"))
    throw new ApiError("ownerProtected", ["body/privileges: the account's owner can't lose admin"]);
  // Nobody else of the account might be left to undo it.
  if (kept?.owner === true && (fields.disabled || from !== null || expires !== null))
    throw new ApiError("ownerProtected", ["body: the account's owner can't be disabled, and its validity has no end"]);
  return {
    fields,
    password: body.password ?? undefined,
    warnings: unknownFields(body, settableUserFields, shownFields),
  };
}

/** What a body would change of a user's way in, and of what it may do. Capitals of an address do not matter. */
export function changesOfWayIn({ email, password, privileges }: UserBody, kept: User) {
  const [asked, present] = [new Set(privileges ?? []), new Set(kept.privileges ?? [])];
  return {
    email: email.toLowerCase() !== kept.email.toLowerCase(),
    password: password !== undefined && password !== null,
    privileges: asked.symmetricDifference(present).size > 0,
  };
}

function plainFields(body: UserBody): Omit<UserFields, "passwordHash" | "from" | "expires"> {
  return {
    name: body.name,
    email: body.email,
    country: body.country,
    timeZone: body.timeZone,
    description: body.description ?? null,
    message: body.message ?? null,
    disabled: body.disabled ?? false,
    disabledMessage: body.disabledMessage ?? null,
    tags: body.tags ?? {},
    privileges: body.privileges ?? null,
    group: body.group ?? null,
    deviceId: body.deviceId ?? null,
    adminDevices: body.adminDevices ?? null,
  };
}

function instant(time: number | null): string | null {
  return time === null ? null : formatInstant(time);
}

function moment(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : (parseInstant(text) ?? null);
}
