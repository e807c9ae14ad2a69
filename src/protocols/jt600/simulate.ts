import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { kmPerMile } from "../../wire/units.ts";
import { expects } from "./command.ts";
import { sumOfText } from "./reports.ts";
import { codeAt, contentOf } from "./sentence.ts";

const confirmation = "(S39)";
const close = 0x29;

/** A personal tracker that sends each position in a U01 with its checksum, and waits for S39. */
export const simulate: SimulatedDevice = {
  report: (device, reports, serial) =>
    bytesOfLatin1(reports.map((report, index) => sentence(device, report, serial + index)).join("")),
  answer(bytes) {
    const end = bytes.indexOf(close);
    if (end < 0) return "more";
    const isConfirmation = latin1Of(bytes.subarray(0, end + 1)) === confirmation;
    return { length: end + 1, accepted: true, reports: isConfirmation ? 1 : 0 };
  },
  obey(message, device) {
    if (expects(message) === "nothing") return undefined;
    const text = latin1Of(contentOf(message));
    return bytesOfLatin1(codeAt(text.split(",")) === 0 ? `(${device},${text})` : `(${text})`);
  },
};

function sentence(device: string, report: SimulatedReport, serial: number): string {
  const [year = "", month = "", day = "", ...clock] = new Date(report.time).toISOString().slice(2, 19).split(/[-T:]/);
  const { latitude, longitude } = report;
  const fields = [
    device,
    "U01",
    `${day}${month}${year}`,
    clock.join(""),
    "T",
    `${Math.abs(latitude).toFixed(6)},${latitude < 0 ? "S" : "N"}`,
    `${Math.abs(longitude).toFixed(6)},${longitude < 0 ? "W" : "E"}`,
    (report.speed / kmPerMile).toFixed(2),
    Math.round(report.course),
    report.satellites,
    `${report.battery}%`,
    "00000000000000,4660,22136,20,0",
    serial % 256,
  ];
  const text = `${fields.join(",")},`;
  return `(${text}${sumOfText(text)})`;
}
