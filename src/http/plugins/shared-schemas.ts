import type { TSchema } from "typebox";
import { AccountAlert } from "../../contract/account-alert.ts";
import { AccountView } from "../../contract/admin.ts";
import { Alert } from "../../contract/alert.ts";
import { AlertRuleView } from "../../contract/alert-rule.ts";
import { Attributes } from "../../contract/attributes.ts";
import { CommandView } from "../../contract/command.ts";
import { DeviceView } from "../../contract/device.ts";
import { GeofenceView } from "../../contract/geofence.ts";
import { GroupView } from "../../contract/group.ts";
import { Location, Reading } from "../../contract/location.ts";
import { ListedMute } from "../../contract/mute.ts";
import { NoticeView } from "../../contract/notice.ts";
import { RecipientView } from "../../contract/recipient.ts";
import { ShareView } from "../../contract/share.ts";
import { DaySummary, Stop, Trip } from "../../contract/trip.ts";
import { UserView } from "../../contract/user.ts";

/** Schemas that others refer to by name: components of the OpenAPI document. */
export const sharedSchemas: readonly TSchema[] = [
  AccountAlert,
  AccountView,
  Alert,
  AlertRuleView,
  Attributes,
  DeviceView,
  CommandView,
  DaySummary,
  GeofenceView,
  GroupView,
  ListedMute,
  Location,
  NoticeView,
  Reading,
  RecipientView,
  ShareView,
  Stop,
  Trip,
  UserView,
];
