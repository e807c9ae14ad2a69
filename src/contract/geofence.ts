import Type, { type Static } from "typebox";
import { success } from "./envelope.ts";
import { listed } from "./page.ts";
import { GivenName, GivenTextOrNull, Instant, NullableText, PathId, reference } from "./schema.ts";

/** Zones with at most this number of positions are bounded by their number alone. */
export const fewPositions = 50;
/**
 * Positions of an account's larger zones, all together: its list of zones stays an answer of some 40 MB, which one
 * process can make.
 */
export const mostPositions = 500_000;

const settableExample = {
  name: "Depot",
  description: null,
  geometry: { type: "Point", coordinates: [-74.0721, 4.711], radius: 0.5 },
};
const example = {
  id: "019ab301-52f7-7c90-9a1e-6c1f3d0b7a55",
  ...settableExample,
  creation: "2026-11-21T08:00:00.000Z",
  modification: "2026-11-21T10:29:00.000Z",
};

const described =
  "A GeoJSON geometry (RFC 7946): a Point with a `radius`, a Polygon, or a LineString with a `width`. Lines over the antimeridian go on beyond 180 degrees.";

const geometry = Type.Object(
  {
    type: Type.String({ description: "Point, Polygon or LineString.", examples: ["Point"] }),
    coordinates: Type.Unsafe<readonly unknown[]>({
      type: "array",
      items: {},
      description: "Longitude and latitude in degrees, in this order (RFC 7946, 3.1.1); 10,000 positions at most.",
    }),
    radius: Type.Optional(Type.Number({ description: "Of a Point, which is a circle: km." })),
    width: Type.Optional(Type.Number({ description: "Of a LineString, which is a route: its whole width, km." })),
  },
  { description: described },
);

const position = {
  type: "array",
  minItems: 2,
  prefixItems: [
    { type: "number", minimum: -360, maximum: 360 },
    { type: "number", minimum: -90, maximum: 90 },
  ],
};
/** Half of the way around the earth is 20,015 km. */
const length = { type: "number", exclusiveMinimum: 0, maximum: 20_015 };
const line = { type: "array", minItems: 2, maxItems: 10_000, items: position };
const rings = { type: "array", minItems: 1, items: { type: "array", minItems: 4, items: position } };

/** A form of geometry, and what length belongs to it. */
const shapes = [
  { type: "Point", coordinates: position, lengths: { radius: length } },
  { type: "LineString", coordinates: line, lengths: { width: length } },
  { type: "Polygon", coordinates: rings, lengths: {} },
].map(({ type, coordinates, lengths }) => ({
  properties: { type: { const: type }, coordinates },
  required: ["type", "coordinates"],
  lengths,
}));
const zoneForms = shapes.flatMap(({ properties, required, lengths }) => [
  { properties: { ...properties, ...lengths }, required: [...required, ...Object.keys(lengths)] },
  {
    properties: {
      type: { const: "Feature" },
      geometry: { type: "object", properties, required },
      properties: { type: "object", properties: lengths, required: Object.keys(lengths) },
    },
    required: ["type", "geometry", ...(Object.keys(lengths).length === 0 ? [] : ["properties"])],
  },
]);

const givenGeometry = Type.Unsafe<{ readonly [name: string]: unknown }>({
  type: "object",
  properties: geometry.properties,
  documented: { oneOf: zoneForms },
  description: `${described} A Feature of one of them with \`radius\` or \`width\` among its properties is taken, too.`,
  examples: [
    settableExample.geometry,
    {
      type: "Polygon",
      coordinates: [
        [
          [-74.1, 4.6],
          [-74, 4.6],
          [-74, 4.7],
          [-74.1, 4.6],
        ],
      ],
    },
    {
      type: "LineString",
      coordinates: [
        [-74.1, 4.6],
        [-74, 4.8],
      ],
      width: 0.2,
    },
  ],
});

const viewed = {
  id: Type.String({ description: "Given by the service." }),
  name: Type.String(),
  description: NullableText(),
  geometry,
  creation: Instant(),
  modification: Instant(),
};

/** A geofence as answers show it. */
export const GeofenceView = Type.Object(viewed, {
  $id: "Geofence",
  description: "A zone of the account, which alert rules name.",
  examples: [example],
});
export type GeofenceView = Static<typeof GeofenceView>;

/**
 * Body of POST /api/geofences and PUT /api/geofences/{geofenceId}, and what the result of a PATCH must be. It resets
 * what it leaves out.
 */
export const GeofenceBody = Type.Object(
  {
    name: GivenName(),
    description: Type.Optional(GivenTextOrNull({ maxLength: 4096 })),
    geometry: givenGeometry,
  },
  { examples: [settableExample] },
);
export type GeofenceBody = Static<typeof GeofenceBody>;

/** Path of every call to one geofence. */
export const GeofencePath = Type.Object({ geofenceId: PathId({ examples: [example.id] }) });

/** Answer with one geofence: its fields stand beside the envelope. */
export const GeofenceAnswer = success(viewed, {
  examples: [{ success: true, error: null, apiUsage: 7, apiDailyUsage: 7, ...example }],
});
/** Answer of GET geofences: all of the account. */
export const GeofencesAnswer = success(listed("geofences", Type.Array(reference<GeofenceView>("Geofence"))));
