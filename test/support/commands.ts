import type { Store } from "../../src/ports/store.ts";
import type { Answer, Rest } from "./rest.ts";

/** Limits of a test of commands: short waits. */
export const quick = { commandWaitSeconds: 0.2, tokenRequestsPerMinute: 1000 };

/** What a test does to the API as somebody. */
export function as(rest: Rest, token: string) {
  const path = (id: string, rest = "") => `/api/devices/${id}${rest}`;
  return {
    send: (id: string, body: unknown, key?: string): Promise<Answer> =>
      rest.call("POST", path(id, "/sendCommand"), { token, body, ...(key && { headers: { "idempotency-key": key } }) }),
    commands: async (id: string, query = "") => (await rest.call("GET", path(id, `/commands${query}`), { token })).json,
    cancel: (id: string, command: string) => rest.call("DELETE", path(id, `/commands/${command}`), { token }),
    put: (id: string, body: object) => rest.call("PUT", path(id), { token, body }),
    limits: async (id: string) => (await rest.call("GET", path(id, "/limits"), { token })).json,
    setLimits: (id: string, body: object) => rest.call("PUT", path(id, "/limits"), { token, body }),
    create: (id: string, fields: object = {}) => rest.call("POST", "/api/devices", { token, body: { id, ...fields } }),
  };
}

/** The store's commands, a step of which fails. */
export function failingAt(commands: Store["commands"], fails: () => boolean): Store["commands"] {
  return {
    create: (...input) => commands.create(...input),
    enqueue: (...input) => commands.enqueue(...input),
    find: (device, id) => commands.find(device, id),
    findByIdempotencyKey: (device, user, key) => commands.findByIdempotencyKey(device, user, key),
    list: (device, from, limit) => commands.list(device, from, limit),
    page: (...input) => commands.page(...input),
    queued: (...input) => commands.queued(...input),
    step: (...input) => (fails() ? Promise.reject(new Error("no disk")) : commands.step(...input)),
    receipt: (...input) => commands.receipt(...input),
    waitingDevices: (limit) => commands.waitingDevices(limit),
    deleteEnded: (...input) => commands.deleteEnded(...input),
    expire: (now) => commands.expire(now),
    nextExpiry: () => commands.nextExpiry(),
  };
}
