import Type, { type Static } from "typebox";
import { serviceSuccess, success } from "./envelope.ts";
import { GivenText, GivenTextOrNull, Instant, NullableList, NullableText } from "./schema.ts";

/**
 * Fewest characters of a password that a person sets for itself: NIST SP 800-63B asks for length, and for nothing else.
 */
export const leastPassword = 12;

const password = (description: string) => GivenText({ minLength: 1, maxLength: 4096, description });
const newPassword = password(
  `The new password: ${leastPassword} characters at least. As everywhere it may be a compact JWE for the key at /.well-known/jwks.json.`,
);

/** Body of POST /api/session. */
export const SignInRequest = Type.Object(
  {
    email: GivenText({ minLength: 1, maxLength: 320, description: "The user's e-mail address, in any case." }),
    password: password("The user's password, or a compact JWE of it."),
    code: Type.Optional(
      GivenTextOrNull({
        maxLength: 64,
        description: "A code of the second factor, or a recovery code. Needed where the user has a second factor.",
      }),
    ),
  },
  { examples: [{ email: "owner@example.com", password: "<PASSWORD>" }] },
);
export type SignInRequest = Static<typeof SignInRequest>;

/** Body of POST /api/session/first. */
export const FirstPasswordRequest = Type.Object(
  {
    token: GivenText({ minLength: 1, maxLength: 256, description: "What stands behind the # of the printed link." }),
    password: newPassword,
  },
  { examples: [{ token: "<TOKEN>", password: "<NEW_PASSWORD>" }] },
);

const presentSecret = password("The caller's present API key or password.");

/** Body of PUT /api/session/password. */
export const PasswordRequest = Type.Object(
  { presentSecret, password: newPassword },
  { examples: [{ presentSecret: "<API_KEY>", password: "<NEW_PASSWORD>" }] },
);

/** Body of POST /api/session/second-factor: it begins one, or confirms the one that was begun. */
export const SecondFactorRequest = Type.Object(
  {
    presentSecret: Type.Optional(presentSecret),
    code: Type.Optional(
      GivenText({ minLength: 1, maxLength: 64, description: "A code of the authenticator, which confirms it." }),
    ),
  },
  {
    examples: [{ presentSecret: "<API_KEY>" }],
    documented: { oneOf: [{ required: ["presentSecret"] }, { required: ["code"] }] },
  },
);

/** Body of the calls that end a second factor. */
export const SecondFactorEnd = Type.Object({ presentSecret }, { examples: [{ presentSecret: "<API_KEY>" }] });

/** Answer of POST /api/session/second-factor. */
export const SecondFactorAnswer = success({
  secret: NullableText({ description: "The key of the codes, base32, for who can't read the URI." }),
  uri: NullableText({ description: "The `otpauth` URI, for a QR code." }),
  recoveryCodes: NullableList({ description: "Each good once in place of a code. Shown this once." }),
});

/**
 * What a user may do beyond looking, by the privilege that is asked for. `service`: what concerns the whole service.
 */
export const abilities = ["admin", "write", "sendCommands", "sendSmsCommands", "sendSmsAlerts", "service"] as const;
/** Something that a user may do. */
export type Ability = (typeof abilities)[number];

const session = Type.Object({
  userId: Type.String(),
  account: Type.String({ description: "Id of the user's account." }),
  email: Type.String(),
  csrf: Type.String({
    description: "To be sent in the header `X-CSRF` of every request of this session that is no GET.",
  }),
  expires: Instant({ description: "When the session ends however much it is used." }),
  secondFactor: Type.Boolean({ description: "Whether the user has a second factor." }),
  may: Type.Array(Type.Unsafe<Ability>({ type: "string", enum: [...abilities] }), {
    description:
      "What the user may do, whichever privilege grants it, among what it sees: programs offer what stands here. `admin`: all of the account · `write`: devices, groups, zones, rules and alerts · `sendCommands`, `sendSmsCommands`, `sendSmsAlerts` · `service`: what concerns the whole service.",
  }),
});
/** A session of a person, as answers show it. */
export type SessionView = Static<typeof session>;

/** Answer with the session of a person. */
export const SessionAnswer = success({ session });

/** Answer of GET /api/session. */
export const PresentSessionAnswer = serviceSuccess({
  session: Type.Unsafe<SessionView | null>({
    anyOf: [session, { type: "null" }],
    description: "null: nobody is signed in.",
  }),
});

const signIn = Type.Object({
  time: Instant({ description: "When it was made." }),
  lastUse: Instant({ description: "When it was last used, to some minutes." }),
  address: Type.String({ description: "The address that it was made from." }),
  browser: Type.String({ description: "What the browser calls itself (`User-Agent`)." }),
  current: Type.Boolean({ description: "Whether it is the one of this request." }),
});
/** A sign-in of a person, as its list shows it. */
export type SignInView = Static<typeof signIn>;

/** Answer of GET /api/session/sign-ins. */
export const SignInsAnswer = success({ signIns: Type.Array(signIn, { description: "The newest first." }) });
