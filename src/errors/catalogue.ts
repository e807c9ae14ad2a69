/**
 * One kind of failure that the API can answer: its status, the specification's exact text, and whether trying again
 * later may help.
 */
export interface ErrorKind {
  readonly status: 400 | 401 | 403 | 404 | 408 | 409 | 415 | 429 | 500 | 503;
  readonly text: string;
  readonly retryable: boolean;
}

function kind(status: ErrorKind["status"], text: string, retryable = false): ErrorKind {
  return Object.freeze({ status, text, retryable });
}

/**
 * Every failure of the API. Texts are those of the specification's section 7 and of the decisions page; a key is never
 * used for another meaning.
 */
export const errorKinds = {
  badCredentials: kind(401, "invalid API key or username"),
  wrongSignIn: kind(401, "wrong e-mail address or password"),
  secondFactorNeeded: kind(401, "second factor needed"),
  invalidToken: kind(401, "authentication failed, invalid token"),
  userDisabled: kind(403, "user disabled"),
  userExpired: kind(403, "user expired"),
  permissionDenied: kind(403, "permission denied"),
  userNotFound: kind(404, "user not found"),
  groupNotFound: kind(404, "group not found"),
  deviceNotFound: kind(404, "device not found"),
  alertNotFound: kind(404, "alert not found"),
  alertRuleNotFound: kind(404, "alert rule not found"),
  geofenceNotFound: kind(404, "geofence not found"),
  notificationNotFound: kind(404, "notification not found"),
  recipientNotFound: kind(404, "recipient not found"),
  notFound: kind(404, "Not Found"),
  invalidEmail: kind(400, "invalid e-mail address"),
  emailInUse: kind(409, "e-mail address already in use"),
  invalidInput: kind(400, "invalid input"),
  invalidPatch: kind(400, "invalid patch operation"),
  patchTestFailed: kind(409, "patch test failed"),
  badRequest: kind(400, "Bad Request"),
  deviceExists: kind(409, "device already exists"),
  deviceExpired: kind(409, "device expired"),
  aliasNotAllowed: kind(409, "alias not allowed"),
  identifierLimit: kind(409, "identifier limit reached"),
  limitCapped: kind(409, "limit above the account's"),
  noPhone: kind(409, "device has no phone number"),
  ownerProtected: kind(409, "account owner is protected"),
  commandNotFound: kind(404, "command not found"),
  commandFinished: kind(409, "command already finished"),
  notificationUnfinished: kind(409, "notification not finished"),
  notificationResent: kind(409, "notification resent too often"),
  alertRuleLimit: kind(409, "alert rule limit reached"),
  geofenceLimit: kind(409, "geofence limit reached"),
  userLimit: kind(409, "user limit reached"),
  groupLimit: kind(409, "group limit reached"),
  deviceRuleLimit: kind(409, "device alert rule limit reached"),
  webhookLimit: kind(409, "webhook limit reached"),
  storageLimit: kind(409, "storage limit reached"),
  recipientLimit: kind(409, "recipient limit reached"),
  recipientKept: kind(409, "recipient can't be deleted"),
  wrongCode: kind(409, "wrong code"),
  secondFactorSet: kind(409, "second factor already set"),
  noSecondFactor: kind(409, "no second factor"),
  shareNotFound: kind(404, "link not found"),
  shareLimit: kind(409, "link limit reached"),
  linkNotValid: kind(404, "link not valid"),
  idempotencyConflict: kind(409, "idempotency key already used"),
  accountNotFound: kind(404, "account not found"),
  noLicense: kind(409, "no license available"),
  requestTimeout: kind(408, "Request Timeout", true),
  unsupportedMediaType: kind(415, "Unsupported Media Type"),
  tooManyRequests: kind(429, "Too Many Requests", true),
  codeLimit: kind(429, "code limit reached", true),
  dailySms: kind(429, "daily SMS limit reached", true),
  mailNotConfigured: kind(503, "mail server not configured", true),
  smsNotConfigured: kind(503, "SMS gateway not configured", true),
  dailyResults: kind(429, "daily results limit reached", true),
  internal: kind(500, "Internal Server Error"),
  unavailable: kind(503, "Service Unavailable", true),
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** Name of a failure in the catalogue. */
export type ErrorName = keyof typeof errorKinds;

/** A failure of the catalogue on its way to the one place that answers it. `details` says what is wrong and where. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: ErrorKind;
  readonly code: ErrorName;
  readonly details: readonly string[];
  /** Seconds after which to try again. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorName, details: readonly string[] = [], retryAfter?: number) {
    super(errorKinds[code].text);
    this.code = code;
    this.kind = errorKinds[code];
    this.details = details;
    this.retryAfter = retryAfter;
  }
}
