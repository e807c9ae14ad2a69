/** A call and its answer. */
export interface Call<Request, Answer> {
  readonly request: Request;
  readonly answer: Answer;
}

/** The calls of a worker by their names. */
export type Calls<C> = { readonly [K in keyof C]: Call<unknown, unknown> };

/** Calls to a worker. */
export interface Link<C extends Calls<C>> {
  /** Rejects with `StoreUnavailable` if the engine can't be used, or if its answer was lost: then the call may have been done. `transfer`: buffers that are handed over. */
  call<K extends keyof C & string>(
    name: K,
    request: C[K]["request"],
    transfer?: readonly ArrayBuffer[],
  ): Promise<C[K]["answer"]>;
}
