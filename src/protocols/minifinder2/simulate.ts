import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, u16leAt } from "../../wire/reader.ts";
import { bitAlarms, codeOf } from "./alarms.ts";
import { textKey } from "./command.ts";
import { command as codes, commandOf, headLength, itemsOf, seal, sequenceOf } from "./envelope.ts";

/** Bit 4: an answer is wanted. */
const acknowledged = 0x10;
const readings = ["charging", "motion", "steps", "odometer"] as const;

/** An EV-07B: each report is a message that waits for its answer. */
export const simulate: SimulatedDevice = {
  carries: { readings, alarms: bitAlarms },
  report(device, reports, serial) {
    const messages = reports.map((report, index) =>
      seal(bodyOf(device, report), (serial + index) & 0xffff, acknowledged),
    );
    return Uint8Array.from(messages.flatMap((message) => [...message]));
  },
  answer(bytes) {
    const length = headLength + u16leAt(bytes, 2);
    if (bytes.length < Math.max(length, headLength + 1)) return "more";
    const accepted = commandOf(bytes.subarray(0, length)) === codes.response && bytes[headLength + 2] === 0;
    return { length, accepted, reports: 1 };
  },
  obey(message, _device, serial) {
    const code = commandOf(message);
    const [item] = itemsOf(message);
    if (code === undefined || code === codes.response) return undefined;
    if (code !== codes.system || item?.key !== textKey)
      return seal(Uint8Array.of(codes.response, 1, 0), sequenceOf(message));
    const text = message.subarray(item.from + 1, item.to);
    return seal(Uint8Array.of(codes.system, text.length + 2, textKey, 0, ...text), serial & 0xffff);
  },
};

/** Little-endian numbers of a value. */
class Values {
  readonly #bytes: number[] = [];

  add(value: number, size: number): this {
    let rest = Math.round(value);
    for (let index = 0; index < size; index++) {
      this.#bytes.push(((rest % 256) + 256) % 256);
      rest = Math.floor(rest / 256);
    }
    return this;
  }

  under(key: number): readonly number[] {
    return [this.#bytes.length + 1, key, ...this.#bytes];
  }
}

function bodyOf(device: string, report: SimulatedReport): Uint8Array {
  const { readings: told = {} } = report;
  const time = report.time / 1000;
  const course = ((Math.round(report.course) % 360) + 360) % 360;
  const flags = (told.charging === true ? 0x10 : 0) + ((told.motion ?? report.speed > 0) ? 0x200 : 0);
  const general = new Values()
    .add(time, 4)
    .add(1 + flags, 2)
    .add((20 << 3) | 2, 1)
    .add(report.battery, 1);
  const position = new Values()
    .add(report.latitude * 1e7, 4)
    .add(report.longitude * 1e7, 4)
    .add(report.speed, 2)
    .add(course, 2)
    .add(report.altitude, 2)
    .add(9, 2)
    .add((told.odometer ?? 0) * 1000, 4)
    .add(report.satellites, 1);
  const steps = told.steps === undefined ? [] : new Values().add(time, 4).add(told.steps, 4).under(0x30);
  const alarm = report.alarm === undefined ? [] : new Values().add(codeOf(report.alarm), 4).add(time, 4).under(0x02);
  return Uint8Array.of(
    codes.data,
    16,
    0x01,
    ...bytesOfLatin1(device.slice(-15).padStart(15, "0")),
    ...general.under(0x24),
    ...alarm,
    ...position.under(0x20),
    ...steps,
  );
}
