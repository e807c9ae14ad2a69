import type { TSchema } from "typebox";
import * as account from "../../contract/account.ts";
import * as accountAlert from "../../contract/account-alert.ts";
import * as admin from "../../contract/admin.ts";
import * as alert from "../../contract/alert.ts";
import * as alertRule from "../../contract/alert-rule.ts";
import * as command from "../../contract/command.ts";
import * as device from "../../contract/device.ts";
import * as exported from "../../contract/export.ts";
import * as geofence from "../../contract/geofence.ts";
import * as group from "../../contract/group.ts";
import * as identity from "../../contract/identity.ts";
import * as location from "../../contract/location.ts";
import * as mute from "../../contract/mute.ts";
import * as notice from "../../contract/notice.ts";
import * as oldPositions from "../../contract/old-positions.ts";
import * as operation from "../../contract/operation.ts";
import * as page from "../../contract/page.ts";
import * as patch from "../../contract/patch.ts";
import * as recipient from "../../contract/recipient.ts";
import * as session from "../../contract/session.ts";
import * as share from "../../contract/share.ts";
import * as stream from "../../contract/stream.ts";
import * as token from "../../contract/token.ts";
import * as trial from "../../contract/trial.ts";
import * as trip from "../../contract/trip.ts";
import * as user from "../../contract/user.ts";

const contract = { ...accountAlert, ...account, ...admin, ...alertRule, ...alert, ...command, ...device, ...geofence };
const more = { ...group, ...identity, ...location, ...mute, ...notice, ...oldPositions, ...operation, ...page };
const rest = {
  ...patch,
  ...recipient,
  ...session,
  ...stream,
  ...token,
  ...trial,
  ...trip,
  ...user,
  ...exported,
  ...share,
};

const names = new Map<unknown, string>(
  Object.entries({ ...contract, ...more, ...rest }).map(([name, value]) => [value, name]),
);

/** Name of a schema of the contract: the name that the code exports it by. Undefined: it has none. */
export function nameOf(schema: TSchema | unknown): string | undefined {
  return names.get(schema);
}
