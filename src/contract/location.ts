import Type, { type Static } from "typebox";
import { success } from "./envelope.ts";
import { cursorPattern } from "./forms.ts";
import { Instant, reference } from "./schema.ts";

const texts = Type.Array(Type.String());
const flags = Type.Array(Type.Boolean());
const attributes = reference<Readonly<Record<string, string>>>("Attributes");
const percent = Type.Optional(Type.Integer({ description: "%" }));
const seconds = Type.Optional(Type.Integer({ description: "Accumulated seconds that the input was active." }));

/**
 * Location (specification 2.5). What the device never reported is absent. The text of it is made by
 * model/location-json.ts.
 */
export const Location = Type.Object(
  {
    dateTime: Instant({ description: "When the tracker took the position, UTC." }),
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    speed: Type.Optional(Type.Number({ description: "km/h" })),
    course: Type.Optional(Type.Number({ description: "Degrees clockwise from north." })),
    battery: percent,
    fuel: percent,
    fuel2: percent,
    temperature: Type.Optional(Type.Number({ description: "°C" })),
    temperature2: Type.Optional(Type.Number({ description: "°C" })),
    sensorTime1: seconds,
    sensorTime2: seconds,
    sensorTime3: seconds,
    sensorTime4: seconds,
    inactiveSeconds: Type.Optional(Type.Integer({ description: "Since the device last moved." })),
    rpm: Type.Optional(Type.Integer()),
    milleage: Type.Optional(Type.Number({ description: "km, from the device's `milleageStart`." })),
    warningTexts: texts,
    alertTexts: texts,
    alerts: texts,
    warnings: texts,
    hasCriticalAlert: Type.Boolean(),
    attributes,
    accessoriesAttributes: Type.Optional(
      Type.Array(Type.Object({ accessoryType: Type.String(), accessoryStatus: Type.String() })),
    ),
    inputs: Type.Optional(flags),
    outputs: Type.Optional(flags),
  },
  {
    $id: "Location",
    description: "A position and what was reported with it.",
    examples: [
      {
        dateTime: "2026-11-21T10:29:00.000Z",
        latitude: 4.711,
        longitude: -74.0721,
        speed: 42,
        course: 181,
        milleage: 120_012.4,
        inactiveSeconds: 0,
        alerts: [],
        alertTexts: [],
        warnings: [],
        warningTexts: [],
        hasCriticalAlert: false,
        battery: 85,
        attributes: { satellites: "9" },
      },
    ],
  },
);
export type Location = Static<typeof Location>;
const locationReference = reference<Location>("Location");

/**
 * What a device reported, as it was reported: nothing is derived. The text of it is made by
 * store/records/location-bytes.ts.
 */
export const Reading = Type.Object(
  {
    dateTime: Instant({ description: "When the tracker took it, UTC." }),
    latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90, description: "Absent without a position." })),
    longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
    speed: Type.Optional(Type.Number({ description: "km/h" })),
    course: Type.Optional(Type.Number({ description: "Degrees clockwise from north." })),
    battery: percent,
    fuel: percent,
    fuel2: percent,
    temperature: Type.Optional(Type.Number({ description: "°C" })),
    temperature2: Type.Optional(Type.Number({ description: "°C" })),
    rpm: Type.Optional(Type.Integer()),
    inputs: Type.Optional(flags),
    outputs: Type.Optional(flags),
    attributes,
  },
  {
    $id: "Reading",
    description: "What a device reported at one moment, with a position or without.",
    examples: [{ dateTime: "2026-11-21T10:29:00.000Z", battery: 85, temperature: 4.5, attributes: { humidity: "61" } }],
  },
);
export type Reading = Static<typeof Reading>;

/** Body of POST /api/devices/{deviceId}/locations (specification 4.5); `limit` and `cursor` are our own. */
export const LocationsRequest = Type.Object(
  {
    from: Instant({ description: "Start of the range, inclusive." }),
    to: Instant({ description: "End of the range, inclusive; not before `from`." }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "The most locations to answer; `nextCursor` then leads on.",
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: cursorPattern,
        maxLength: 128,
        description: "`nextCursor` of the answer before; no other.",
      }),
    ),
  },
  { examples: [{ from: "2026-11-21T00:00:00Z", to: "2026-11-21T23:59:59.999Z", limit: 1000 }] },
);
export type LocationsRequest = Static<typeof LocationsRequest>;

/** Answer of GET devices/{id}/lastLocation. */
export const LastLocationAnswer = success({
  lastLocation: Type.Union([locationReference, Type.Null()], {
    description: "null while the device has never reported.",
  }),
});

/** Answer of POST devices/{id}/locations. */
export const LocationsAnswer = success({
  locations: Type.Array(locationReference, { description: "By time." }),
  nextCursor: Type.Optional(Type.String({ description: "Present where more follow; absent at the end." })),
});

/** Answer of POST devices/{id}/readings. */
export const ReadingsAnswer = success({
  readings: Type.Array(reference<Reading>("Reading"), { description: "By time." }),
  nextCursor: Type.Optional(Type.String({ description: "Present where more follow; absent at the end." })),
});
