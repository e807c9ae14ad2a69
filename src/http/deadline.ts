import { ApiError } from "../errors/catalogue.ts";

/**
 * The result of some work, or `requestTimeout` if the work takes longer than `ms`. The work itself goes on; nobody
 * waits for it.
 */
export function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new ApiError("requestTimeout")), ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
