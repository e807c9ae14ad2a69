import Type from "typebox";
import { integer, text } from "./kinds.ts";

/** How notices are kept, sent again and written. */
export const notices = Type.Object({
  keepDays: integer(90, {
    env: "WAYBEAM_NOTICES_KEEP_DAYS",
    minimum: 1,
    maximum: 36_500,
    unit: "days",
    description:
      "Time after which the record of a notice that was sent, failed or suppressed is deleted. Its alert goes on to tell by which channels people were told.",
  }),
  keptPerDevice: integer(10_000, {
    env: "WAYBEAM_NOTICES_KEPT_PER_DEVICE",
    minimum: 100,
    maximum: 10_000_000,
    unit: "notices",
    description:
      "Notices kept of each device, so that rules that alert all the time can't fill the disk: some 10 MB, or more than a hundred notices a day for keepDays. With more, the oldest that were sent, failed or suppressed are deleted. Where more than that wait, the oldest of them fail. A device may have a tenth more for a short time.",
  }),
  mapLink: text("https://www.openstreetmap.org/?mlat={latitude}&mlon={longitude}&zoom=16", {
    env: "WAYBEAM_NOTICES_MAP_LINK",
    pattern: "^https?://(?=\\S*\\{latitude\\})(?=\\S*\\{longitude\\})\\S+$",
    example: "an http or https address with {latitude} and {longitude}",
    description: "Map that notices link to. Short, for it is to go into an SMS.",
  }),
  mostResends: integer(5, {
    env: "WAYBEAM_NOTICES_MOST_RESENDS",
    minimum: 0,
    maximum: 1000,
    unit: "times",
    description:
      "How often one notice may be sent again by hand: enough to mend a mistake, too few to annoy its recipient.",
  }),
  pauseMinutes: integer(2, {
    env: "WAYBEAM_NOTICES_PAUSE_MINUTES",
    minimum: 0,
    maximum: 1440,
    unit: "minutes",
    description:
      "The shortest time between two e-mails, or two SMS, that tell a recipient the same thing about a device, rule and zone. It doubles while that repeats, up to a day. 0: no pauses.",
  }),
  resendsPerMinute: integer(20, {
    env: "WAYBEAM_NOTICES_RESENDS_PER_MINUTE",
    minimum: 0,
    maximum: 1_000_000,
    unit: "notices",
    description: "Notices that each user may send again by hand in a minute; webhooks have no daily limit.",
  }),
  smsParts: integer(1, {
    env: "WAYBEAM_NOTICES_SMS_PARTS",
    minimum: 1,
    maximum: 6,
    unit: "parts",
    description:
      "SMS that a notice may be sent in, each of which is paid for and counts to the device's day; what does not fit is left out. By SMPP not above sms.maxParts.",
  }),
});
