import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { envelopeOf, seal } from "./envelope.ts";
import { eventAlarms, eventOf } from "./events.ts";

const inputs = ["input1", "input2", "input3", "input4"] as const;
const outputs = ["output1", "output2", "output3", "output4"] as const;

/** A tracker that sends AAA reports, which nobody acknowledges, and does what it is told. */
export const simulate: SimulatedDevice = {
  carries: { readings: [...inputs, ...outputs], alarms: eventAlarms },
  report: (device, reports, serial) => {
    const messages = reports.map((report, index) => seal("$$", markOf(serial + index), device, contentOf(report)));
    return bytesOfLatin1(messages.map(latin1Of).join(""));
  },
  obey(message, device) {
    const envelope = envelopeOf(message);
    if (envelope === undefined || message[0] !== 0x40) return undefined;
    return seal("$$", envelope.mark, device, `${envelope.type},OK`);
  },
};

/** Data identifier of a message: 0x41 to 0x7A in turn. */
export function markOf(serial: number): string {
  return String.fromCharCode(0x41 + (serial % 58));
}

function contentOf(report: SimulatedReport): string {
  const iso = new Date(report.time).toISOString();
  const time = iso.slice(2, 19).replaceAll(/[-:T]/g, "");
  const readings = report.readings ?? {};
  const bits = (names: typeof inputs | typeof outputs): string =>
    names
      .reduce((all, name, index) => (readings[name] === true ? all | (1 << index) : all), 0)
      .toString(16)
      .toUpperCase()
      .padStart(2, "0");
  const place = `${report.latitude.toFixed(6)},${report.longitude.toFixed(6)},${time},A`;
  const course = ((Math.round(report.course) % 360) + 360) % 360;
  const motion = `${report.satellites},20,${Math.round(report.speed)},${course},0.9,${Math.round(report.altitude)}`;
  return `AAA,${eventOf(report.alarm)},${place},${motion},1000,2000,262|2|1234|5678,${bits(inputs)}${bits(outputs)},0000|0000|0000|0190|0500,,,3,,`;
}
