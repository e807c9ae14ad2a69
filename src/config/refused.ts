import Type from "typebox";
import { integer } from "./kinds.ts";

/** How long and how much is kept of reports that are no locations: their clock or their position can't be right. */
export const refused = Type.Object({
  keepDays: integer(90, {
    env: "WAYBEAM_REFUSED_KEEP_DAYS",
    minimum: 1,
    maximum: 36_500,
    unit: "days",
    description:
      "Time after which a refused report is deleted. It was acknowledged, so the tracker does not have it any more; a wrong clock is often noticed weeks later.",
  }),
  bytesPerDevice: integer(16_777_216, {
    env: "WAYBEAM_REFUSED_BYTES_PER_DEVICE",
    minimum: 65_536,
    maximum: 1_099_511_627_776,
    unit: "bytes",
    description:
      "Refused reports kept of each device, so that a faulty one can't fill the disk: some 50,000, or five weeks of one a minute. Where there are more the oldest make room; GET .../refused says so.",
  }),
});
