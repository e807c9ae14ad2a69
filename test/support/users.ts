import type { User } from "../../src/model/account.ts";

/** An active user without any right, with some fields set otherwise. */
export function userOf(fields: Partial<User> = {}): User {
  return {
    key: 1,
    id: "u",
    accountKey: 1,
    owner: false,
    name: "Somebody",
    email: "somebody@example.com",
    country: "CO",
    timeZone: "America/Bogota",
    description: null,
    message: null,
    disabled: false,
    disabledMessage: null,
    tags: {},
    privileges: null,
    group: null,
    deviceId: null,
    adminDevices: null,
    from: null,
    expires: null,
    passwordHash: null,
    passwordSignsIn: false,
    apiKeyHash: null,
    apiKeyId: null,
    creation: 0,
    modification: 0,
    lastLogin: null,
    ...fields,
  };
}

/** The same as a store takes it. */
export function newUserOf(fields: Partial<User> = {}): Omit<User, "key" | "creation" | "modification" | "lastLogin"> {
  const { key: _key, creation: _creation, modification: _modification, lastLogin: _login, ...user } = userOf(fields);
  return user;
}
