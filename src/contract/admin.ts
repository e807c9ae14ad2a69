import Type, { type Static } from "typebox";
import { type Language, languages } from "../model/language.ts";
import { serviceSuccess } from "./envelope.ts";
import { emailPattern, longestEmail } from "./forms.ts";
import { GivenPositionDays, ShownPositionDays } from "./old-positions.ts";
import { listed } from "./page.ts";
import { GivenText, Instant, NullableBoolean, NullableInteger, PathId, reference } from "./schema.ts";

const cap = (description: string, maximum = 1_000_000_000) =>
  Type.Optional(
    NullableInteger({ minimum: 0, maximum, description: `${description} Unset: as the service's settings say.` }),
  );

const settable = {
  dailyEmails: cap("E-mails that all its devices may send in a day of the account."),
  dailySms: cap("SMS that all its devices may send in a day of the account."),
  deviceDailyEmails: cap("The highest `dailyEmailLimit` that its devices can be given.", 1_000_000),
  deviceDailySms: cap("The highest `dailySmsLimit` that its devices can be given.", 1_000_000),
  unconfirmedRecipients: Type.Optional(
    NullableBoolean({
      description:
        "Whether people outside the account get its notices without having confirmed that they want them. Unset: no; for the first account yes.",
    }),
  ),
  name: GivenText({ minLength: 1, maxLength: 256 }),
  timeZone: GivenText({
    maxLength: 64,
    documented: "timeZone",
    description: "IANA name of the form Region/City; its midnight starts the account's day.",
    examples: ["America/Bogota"],
  }),
  licenses: Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    description:
      "Devices that may be active. Fewer than are in use takes none away: then none is free until enough have expired.",
    examples: [500],
  }),
  language: Type.Optional(
    Type.Unsafe<Language>({
      type: "string",
      enum: [...languages],
      description: "Of its alerts, where a recipient has none of its own. Unset: en.",
    }),
  ),
  positionDays: GivenPositionDays(
    "For how many days its devices' positions are kept; older ones are deleted for good. A device's own `positionDays` takes precedence. Left out: unchanged; null: for ever, as for a new account.",
  ),
};

function quota(description: string) {
  return Type.Optional(NullableInteger({ minimum: 0, maximum: 1_000_000_000_000, description }));
}

const quotas = Type.Optional(
  Type.Object(
    {
      users: quota("Users."),
      groups: quota("Groups."),
      geofences: quota("Geofences."),
      rules: quota("Alert rules."),
      rulesOfDevice: quota(
        "Alert rules that watch one device, by its id or through its groups, and those that name one group.",
      ),
      webhooks: quota("Webhooks of all rules."),
      bytes: quota("Bytes of users, groups, geofences and rules together, as stored."),
    },
    {
      description:
        "What the account may have of each; null or left out: what the service's settings say. An account that has more keeps all of it, and can't add.",
      examples: [{ users: 50, bytes: 10_000_000 }],
    },
  ),
);

const example = { name: "North Fleet", timeZone: "America/Bogota", licenses: 500, language: "es" };
const ownerExample = {
  name: "Ana Gómez",
  email: "ana@example.com",
  country: "CO",
  timeZone: "America/Bogota",
};

/** Body of POST /api/admin/accounts. */
export const NewAccount = Type.Object(
  {
    ...settable,
    owner: Type.Object(
      {
        name: GivenText({ minLength: 1, maxLength: 256 }),
        email: GivenText({
          maxLength: 1024,
          description: "Its user name; unique in the whole service.",
          documented: { pattern: emailPattern, maxLength: longestEmail },
        }),
        country: GivenText({
          maxLength: 256,
          description: "ISO alpha-2, alpha-3 or English name.",
          documented: "country",
        }),
        timeZone: GivenText({
          maxLength: 64,
          description: "IANA name of the form Region/City.",
          documented: "timeZone",
        }),
      },
      { description: "The account's first user: it holds `admin`, and can't lose it or be deleted." },
    ),
  },
  { examples: [{ ...example, owner: ownerExample }] },
);
export type NewAccount = Static<typeof NewAccount>;

/** Body of PUT /api/admin/accounts/{accountId}, and what the result of a PATCH must be. */
export const AccountReplacement = Type.Object({ ...settable, quotas }, { examples: [example] });
export type AccountReplacement = Static<typeof AccountReplacement>;

/** Licences of an account, as every answer shows them. */
export const Licenses = Type.Object(
  { total: Type.Integer(), used: Type.Integer(), free: Type.Integer() },
  { description: "A device uses one until it expires.", examples: [{ total: 500, used: 12, free: 488 }] },
);

/** A bound and how much of it is used, as every answer shows it. */
export const Bound = Type.Object(
  { limit: Type.Integer(), used: Type.Integer() },
  { examples: [{ limit: 500, used: 12 }] },
);

/** What the operator allows an account, as every answer shows it. */
export const capsShown = {
  dailyEmails: Bound,
  dailySms: Bound,
  deviceDailyEmails: Type.Integer({ description: "The highest `dailyEmailLimit` that a device can be given." }),
  deviceDailySms: Type.Integer({ description: "The highest `dailySmsLimit` that a device can be given." }),
  unconfirmedRecipients: Type.Boolean({
    description: "Whether people outside the account get its notices without having confirmed that they want them.",
  }),
};

/** Quotas of an account and their use, as every answer shows them. */
export const QuotasView = Type.Object(
  {
    users: Bound,
    groups: Bound,
    geofences: Bound,
    rules: Bound,
    rulesOfDevice: Type.Object(
      { limit: Type.Integer() },
      {
        description:
          "Alert rules that may watch one device, by its id or through its groups, and that may name one group.",
        examples: [{ limit: 200 }],
      },
    ),
    webhooks: Bound,
    bytes: Bound,
  },
  { description: "What is at its limit can't grow: 409." },
);
export type QuotasView = Static<typeof QuotasView>;

/** How long an account keeps positions, as every answer shows it. */
export const AccountPositionDays = ShownPositionDays(
  "For how many days its devices' positions are kept; null: for ever.",
);

/** Language of an account's alerts, as every answer shows it. */
export const AccountLanguage = Type.Unsafe<Language>({ type: "string", enum: [...languages] });

/** An account as the operator sees it. */
export const AccountView = Type.Object(
  {
    id: Type.String({ description: "Its public identifier." }),
    name: Type.String(),
    timeZone: Type.String(),
    language: AccountLanguage,
    licenses: Licenses,
    ...capsShown,
    positionDays: AccountPositionDays,
    quotas: QuotasView,
    creation: Instant(),
  },
  {
    $id: "Account",
    description: "A tenant: nobody else sees its users and devices.",
    examples: [
      {
        id: "019a9f3e-7c1b-7e55-9d0b-3f6b2b8f6c11",
        ...example,
        licenses: { total: 500, used: 12, free: 488 },
        dailyEmails: { limit: 10_000, used: 35 },
        dailySms: { limit: 500, used: 2 },
        deviceDailyEmails: 500,
        deviceDailySms: 100,
        unconfirmedRecipients: false,
        positionDays: 365,
        quotas: {
          users: { limit: 1000, used: 12 },
          groups: { limit: 1000, used: 3 },
          geofences: { limit: 10_000, used: 40 },
          rules: { limit: 2000, used: 25 },
          rulesOfDevice: { limit: 200 },
          webhooks: { limit: 1000, used: 2 },
          bytes: { limit: 67_108_864, used: 90_412 },
        },
        creation: "2026-11-21T10:29:00.000Z",
      },
    ],
  },
);
export type AccountView = Static<typeof AccountView>;
const accountReference = reference<AccountView>("Account");

/** Path of every call to one account. */
export const AccountPath = Type.Object({
  accountId: PathId({
    description: "The account's id.",
    examples: ["019a9f3e-7c1b-7e55-9d0b-3f6b2b8f6c11"],
  }),
});

/** An owner's way in. */
const ownerAccess = Type.Object({
  id: Type.String({ description: "The user's id." }),
  email: Type.String(),
  apiKey: Type.String({ description: "Shown this once." }),
});

/** Answers of the operator's calls. */
export const AccountsAnswer = serviceSuccess(listed("accounts", Type.Array(accountReference)));
export const AccountViewAnswer = serviceSuccess({ account: accountReference });
export const NewAccountAnswer = serviceSuccess({
  account: accountReference,
  owner: ownerAccess,
});
/** Answer of POST /api/admin/accounts/{accountId}/ownerApiKey. */
export const OwnerKeyAnswer = serviceSuccess({ owner: ownerAccess });
