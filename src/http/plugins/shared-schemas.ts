import type { TSchema } from "typebox";
import { AccountView } from "../../contract/admin.ts";
import { Alert } from "../../contract/alert.ts";
import { CommandView } from "../../contract/command.ts";
import { DeviceView } from "../../contract/device.ts";
import { GroupView } from "../../contract/group.ts";
import { Location } from "../../contract/location.ts";
import { UserView } from "../../contract/user.ts";

/** Schemas that others refer to by name: components of the OpenAPI document. */
export const sharedSchemas: readonly TSchema[] = [
  AccountView,
  Alert,
  DeviceView,
  CommandView,
  GroupView,
  Location,
  UserView,
];
