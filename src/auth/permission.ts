import { type Ability, abilities } from "../contract/session.ts";
import { ApiError } from "../errors/catalogue.ts";
import { holds, isOutsideWindow, maySendSmsAlerts, type User } from "../model/account.ts";
import { mayCommand } from "../model/command.ts";

/**
 * What a route asks of its caller; every route declares one. `public`: nothing, not even a token · `anyone`: nothing;
 * who is known is counted, limited and refused as on any other · `see`: any active user (what it sees is narrowed to
 * its devices) · `person`: any active user who signed in with a browser · `write`: editing what it can see · `command`:
 * sending commands to what it can see, on one channel at least · `admin`: all of the account · `shared`: the token of a
 * link, and no user · `service`: an admin of the first account, who runs the service, or its operator · `operator`: who
 * has the operator's key, no user at all.
 */
export const permissions = [
  "public",
  "anyone",
  "see",
  "person",
  "write",
  "command",
  "admin",
  "shared",
  "service",
  "operator",
] as const;
/** What a route asks of its caller. */
export type Permission = (typeof permissions)[number];

/** Whether the user holds everything of its account. */
export function isAdmin(user: User): boolean {
  return holds(user, "admin");
}

/**
 * Whether an active user may do what needs this permission. `serviceAccount`: key of the account that runs the service.
 */
export function allows(permission: Permission, user: User, serviceAccount: number): boolean {
  switch (permission) {
    case "public":
    case "anyone":
    case "see":
    // What it asks beside, the gate knows.
    case "person":
      return true;
    case "write":
      return isAdmin(user) || holds(user, "write");
    case "command":
      return mayCommand(user, "data") || mayCommand(user, "sms");
    case "admin":
      return isAdmin(user);
    case "service":
      return isAdmin(user) && user.accountKey === serviceAccount;
    case "operator":
    case "shared":
      return false;
  }
}

/** What an active user may do beyond looking. */
export function abilitiesOf(user: User, serviceAccount: number): readonly Ability[] {
  const may: Readonly<Record<Ability, boolean>> = {
    admin: isAdmin(user),
    write: allows("write", user, serviceAccount),
    sendCommands: mayCommand(user, "data"),
    sendSmsCommands: mayCommand(user, "sms"),
    sendSmsAlerts: maySendSmsAlerts(user),
    service: allows("service", user, serviceAccount),
  };
  return abilities.filter((ability) => may[ability]);
}

/** Whether the operator may do what needs this permission: nothing that is an account's own. */
export function operatorMay(permission: Permission): boolean {
  return permission === "operator" || permission === "service";
}

/** Why a user may do nothing at present (403); undefined: it is active. */
export function inactivity(user: User, now: number): ApiError | undefined {
  const details = user.disabledMessage === null ? [] : [user.disabledMessage];
  if (user.disabled) return new ApiError("userDisabled", details);
  return isOutsideWindow(user, now) ? new ApiError("userExpired", details) : undefined;
}
