import Type, { type Static } from "typebox";
import { privilegeNames } from "../model/account.ts";
import { success } from "./envelope.ts";
import { anyText, emailPattern, longestEmail } from "./forms.ts";
import { listed } from "./page.ts";
import {
  GivenName,
  GivenTags,
  GivenText,
  GivenTextOrNull,
  Instant,
  NullableBoolean,
  NullableInstant,
  NullableInteger,
  NullableList,
  NullableText,
  PathId,
  reference,
  Texts,
} from "./schema.ts";

const settableExample = {
  name: "Ana Torres",
  email: "ana.torres@example.com",
  country: "CO",
  timeZone: "America/Bogota",
  description: "Night shift",
  message: null,
  disabled: false,
  disabledMessage: null,
  tags: { office: "Bogotá" },
  privileges: ["read", "sendCommands"],
  group: "Trucks",
  deviceId: null,
  adminDevices: 12,
  from: "2026-01-01T00:00:00.000Z",
  expires: "2027-12-31T00:00:00.000Z",
  password: null,
};

const example = {
  id: "019aa5c3-7d40-7b1e-9c5c-0d3a6a1f2b4c",
  ...settableExample,
  creation: "2026-01-01T08:00:00.000Z",
  modification: "2026-11-21T10:29:00.000Z",
  lastLogin: null,
};

const privileges = `Any texts; these have a meaning: ${privilegeNames.join(", ")}.`;
const group = "Id or name of the group whose devices it sees; one that does not exist grants nothing.";
const deviceId = "Id of a device that it sees; one that does not exist grants nothing.";

const viewed = {
  id: Type.String({ description: "Given by the service." }),
  name: Type.String(),
  email: Type.String({ description: "The user name of its token requests." }),
  country: Type.String({ description: "As it was sent." }),
  timeZone: Type.String(),
  description: NullableText(),
  message: NullableText(),
  disabled: Type.Boolean(),
  disabledMessage: NullableText(),
  tags: Texts({ description: "For the caller's own use." }),
  privileges: Type.Array(Type.String(), { description: privileges }),
  group: NullableText({ description: group }),
  deviceId: NullableText({ description: deviceId }),
  adminDevices: NullableInteger({ description: "Number of devices that it manages, as it was set." }),
  from: NullableInstant({ description: "It may do nothing before." }),
  expires: NullableInstant({ description: "It may do nothing from then on." }),
  password: Type.Null({ description: "Never shown." }),
  creation: Instant(),
  modification: Instant(),
  lastLogin: NullableInstant({ description: "When it last obtained a token or signed in." }),
};

/** A user as answers show it (specification 2.3). What is not set is null; the password always is. */
export const UserView = Type.Object(viewed, { $id: "User", description: "A user.", examples: [example] });
export type UserView = Static<typeof UserView>;

const presentSecret = Type.Optional(
  GivenTextOrNull({
    maxLength: 4096,
    description:
      "The caller's present API key or password. Needed where the caller changes its own e-mail address or password: a token alone does not suffice. Where it sets another user's password, that one can sign in with it only if this is given. Never kept or shown.",
  }),
);

/**
 * Body of POST /api/users and PUT /api/users/{userId}, and what the result of a PATCH must be. It resets what it leaves
 * out, but for the password.
 */
export const UserBody = Type.Object(
  {
    name: GivenName(),
    // Its length is a part of its form, which is checked apart: a bad address has an error of its own.
    email: GivenText({
      description: "Unique in the whole service, in any case.",
      documented: { pattern: emailPattern, maxLength: longestEmail },
    }),
    country: GivenText({
      description: "ISO 3166-1 alpha-2, alpha-3 or English name, in any case.",
      documented: "country",
    }),
    timeZone: GivenText({
      maxLength: 128,
      description: "IANA name of the form Region/City.",
      documented: "timeZone",
    }),
    description: Type.Optional(GivenTextOrNull({ maxLength: 4096 })),
    message: Type.Optional(GivenTextOrNull({ maxLength: 4096 })),
    disabled: Type.Optional(NullableBoolean({ description: "It may do nothing." })),
    disabledMessage: Type.Optional(
      GivenTextOrNull({ maxLength: 4096, description: "Told to the user that is refused." }),
    ),
    tags: Type.Optional(GivenTags()),
    privileges: Type.Optional(
      NullableList({
        items: { type: "string", minLength: 1, maxLength: 128, pattern: anyText },
        maxItems: 100,
        description: privileges,
      }),
    ),
    group: Type.Optional(GivenTextOrNull({ maxLength: 256, description: group })),
    deviceId: Type.Optional(GivenTextOrNull({ maxLength: 64, description: deviceId })),
    adminDevices: Type.Optional(NullableInteger({ minimum: 0, maximum: 2_147_483_647 })),
    from: Type.Optional(NullableInstant()),
    expires: Type.Optional(NullableInstant()),
    password: Type.Optional(
      GivenTextOrNull({
        maxLength: 4096,
        description:
          "Kept as a hash. It may be encrypted as a compact JWE (RSA-OAEP-256, A256GCM) for the key at /.well-known/jwks.json; any other JWE is refused. Unset: stays as it is.",
      }),
    ),
    presentSecret,
  },
  { examples: [settableExample] },
);
export type UserBody = Static<typeof UserBody>;

/** Names of the fields that a caller may set. */
export const settableUserFields: readonly string[] = Object.keys(UserBody.properties);

/** Path of every call to one user. */
export const UserPath = Type.Object({ userId: PathId({ examples: [example.id] }) });

const flatExample = { success: true, error: null, apiUsage: 7, apiDailyUsage: 7, ...example };

/** Answer with one user: its fields stand beside the envelope. */
export const UserAnswer = success(viewed, { examples: [flatExample] });
/** Answer of GET users: those that the caller may see. */
export const UsersAnswer = success(listed("users", Type.Array(reference<UserView>("User"))));

/** Body of POST users/{userId}/apiKey. */
export const ApiKeyRequest = Type.Object(
  {
    presentSecret: GivenText({
      maxLength: 4096,
      description: "The caller's own present API key or password, also where the new key is another user's.",
    }),
  },
  { examples: [{ presentSecret: "<API_KEY>" }] },
);
export type ApiKeyRequest = Static<typeof ApiKeyRequest>;

/** Answer of GET users/{userId}/apiKey. */
export const ApiKeyInfoAnswer = success({
  key: Type.Unsafe<{ readonly id: string; readonly creation: string | null } | null>({
    type: ["object", "null"],
    properties: { id: Type.String(), creation: NullableInstant({ description: "When it was made." }) },
    required: ["id", "creation"],
    description: "The user's API key, without its secret; null if it has none.",
    examples: [{ id: "019aa5c3-7d40-7b1e-9c5c-0d3a6a1f2b4c", creation: "2026-11-21T10:29:00.000Z" }],
  }),
});

/** Answer of POST users/{userId}/apiKey. */
export const ApiKeyAnswer = success({
  apiKey: Type.String({
    description: "Shown this once; it ends the one before and its tokens.",
    examples: ["<API_KEY>"],
  }),
});

/** Answer of GET users/countries. */
export const CountriesAnswer = success({
  countries: Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string" },
    description: "English names by ISO 3166-1 alpha-2 code.",
    examples: [{ CO: "Colombia" }],
  }),
});

/** Answer of GET users/timeZones. */
export const TimeZonesAnswer = success({
  timeZones: Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string" },
    description: "English names of the standard time of each zone by its IANA name.",
    examples: [{ "America/Bogota": "Colombia Standard Time" }],
  }),
});

/** Answer of GET /.well-known/jwks.json: a JWK set (RFC 7517), without the envelope. */
export const PublicKeysAnswer = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal("RSA"),
        n: Type.String({ description: "Modulus, base64url." }),
        e: Type.String({ description: "Exponent, base64url." }),
        use: Type.Literal("enc"),
        alg: Type.Literal("RSA-OAEP-256"),
        kid: Type.String({ description: "Thumbprint of the key (RFC 7638)." }),
      }),
    ),
  },
  { description: "The key that passwords can be encrypted for." },
);
