/**
 * Licences of an account as the API shows them. Where fewer are held than used, none is free until enough have expired.
 */
export function licensesOf(total: number, used: number) {
  return { total, used, free: Math.max(0, total - used) };
}
