/** A call and its answer. */
export interface Call<Request, Answer> {
  readonly request: Request;
  readonly answer: Answer;
}

/** The calls of a worker by their names. */
export type Calls<C> = { readonly [K in keyof C]: Call<unknown, unknown> };
