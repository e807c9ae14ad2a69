import type { CallFailure } from "../../failures.ts";

/** What crosses to a worker. */
export interface RequestMessage {
  readonly id: number;
  readonly name: string;
  readonly request: unknown;
}

/** What comes back: an answer or a failure. */
export type AnswerMessage =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: CallFailure };
