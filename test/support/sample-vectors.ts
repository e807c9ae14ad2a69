import { type Vector, vectorsOf } from "./vectors.ts";

/** Examples of the invented protocol, in the form of a `<id>.vectors.json`. */
const vectors: unknown = [
  {
    name: "login and two reports",
    messages: ["2404013132333425", "2422026955b9000046f410fb96163001f92341016955b93c0046f410fb96163001f923410039"],
    source: "constructed",
    transport: "tcp",
    effects: [
      [
        {
          type: "identify",
          ids: ["1234"],
        },
        {
          type: "reply",
          bytes: "24000125",
          when: "identified",
        },
      ],
      [
        {
          type: "fix",
          time: "2026-01-01T00:00:00.000Z",
          valid: true,
          latitude: 4.65,
          longitude: -74.05,
          speed: 50.5,
          course: 90.25,
          alarms: [],
          readings: {
            ignition: true,
          },
          attributes: {},
        },
        {
          type: "fix",
          time: "2026-01-01T00:01:00.000Z",
          valid: true,
          latitude: 4.65,
          longitude: -74.05,
          speed: 50.5,
          course: 90.25,
          alarms: [],
          readings: {
            ignition: false,
          },
          attributes: {},
        },
        {
          type: "reply",
          bytes: "2401020225",
          when: "stored",
        },
      ],
    ],
    command: {
      text: "?",
      device: "1234",
      bytes: "2401803f9a",
    },
  },
  {
    name: "heartbeat of a known device",
    device: "1234",
    messages: ["2401035573"],
    source: "constructed",
    transport: "tcp",
    effects: [
      [
        {
          type: "readings",
          alarms: [],
          readings: {
            battery: 85,
          },
          attributes: {},
        },
      ],
    ],
  },
  {
    name: "reports before the login",
    messages: ["2422026955b9000046f410fb96163001f92341016955b93c0046f410fb96163001f923410039"],
    source: "constructed",
    transport: "tcp",
    effects: [
      [
        {
          type: "failure",
          cause: "notIdentified",
        },
      ],
    ],
  },
  {
    name: "answer to a command",
    device: "1234",
    messages: ["2402804f4ba2"],
    source: "constructed",
    transport: "tcp",
    effects: [
      [
        {
          type: "commandResult",
          text: "OK",
        },
      ],
    ],
    command: {
      text: "x".repeat(256),
      refused: true,
    },
  },
  {
    name: "a stream cut anywhere",
    chunks: true,
    messages: [
      "240401",
      "3132333425ffff2422026955b9000046f410fb96163001f9234101",
      "6955b93c0046f410fb96163001f923410039",
    ],
    source: "constructed",
    transport: "tcp",
    effects: [
      [],
      [
        {
          type: "identify",
          ids: ["1234"],
        },
        {
          type: "reply",
          bytes: "24000125",
          when: "identified",
        },
      ],
      [
        {
          type: "fix",
          time: "2026-01-01T00:00:00.000Z",
          valid: true,
          latitude: 4.65,
          longitude: -74.05,
          speed: 50.5,
          course: 90.25,
          alarms: [],
          readings: {
            ignition: true,
          },
          attributes: {},
        },
        {
          type: "fix",
          time: "2026-01-01T00:01:00.000Z",
          valid: true,
          latitude: 4.65,
          longitude: -74.05,
          speed: 50.5,
          course: 90.25,
          alarms: [],
          readings: {
            ignition: false,
          },
          attributes: {},
        },
        {
          type: "reply",
          bytes: "2401020225",
          when: "stored",
        },
      ],
    ],
  },
  {
    name: "datagram",
    transport: "udp",
    messages: ["2404013132333425", "2401030127"],
    source: "constructed",
    effects: [
      [
        {
          type: "identify",
          ids: ["1234"],
        },
        {
          type: "reply",
          bytes: "24000125",
          when: "identified",
        },
      ],
      [
        {
          type: "readings",
          alarms: [],
          readings: {
            battery: 1,
          },
          attributes: {},
        },
      ],
    ],
  },
];

/** Read anew each time, so that a protocol which is broken on purpose can't spoil them for the next test. */
export function sampleVectors(): readonly Vector[] {
  return vectorsOf(vectors);
}
