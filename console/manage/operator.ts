import createClient from "openapi-fetch";
import { answer } from "../api/client.ts";
import type { components, paths } from "../api/schema.ts";

/** An account as the operator sees it. */
export type Account = components["schemas"]["Account"];
/** Body of a new account. */
export type NewAccount = components["schemas"]["NewAccount"];

/** The operator's calls. The key goes with each and is kept nowhere: it ends with the page. */
export class Operator {
  readonly #api;

  constructor(key: string) {
    // Without the cookie: a request with the operator's key is the operator's, and of no user.
    this.#api = createClient<paths>({
      ...{ baseUrl: location.origin, credentials: "omit", headers: { authorization: `Bearer ${key}` } },
    });
  }

  page(cursor?: string) {
    return answer(this.#api.GET("/api/admin/accounts", { params: { query: cursor ? { cursor } : {} } }));
  }

  add(body: NewAccount) {
    return answer(this.#api.POST("/api/admin/accounts", { body }));
  }

  patch(accountId: string, body: components["schemas"]["PatchRequest"]) {
    return answer(this.#api.PATCH("/api/admin/accounts/{accountId}", { params: { path: { accountId } }, body }));
  }

  /** Makes a new API key for the account's owner; the one before ends. */
  newOwnerKey(accountId: string) {
    return answer(this.#api.POST("/api/admin/accounts/{accountId}/ownerApiKey", { params: { path: { accountId } } }));
  }
}
