/** How long things may take, ms. */
export interface Times {
  readonly connect: number;
  /**
   * A statement with its waits for locks; also the wait for a free connection. Less than a request to the API may take.
   */
  readonly statement: number;
  /** An idle transaction, before the server ends it: a program that was cut off must not hold locks for ever. */
  readonly idle: number;
}

/** Everybody's times but those of some tests. */
export const usualTimes: Times = { connect: 5000, statement: 20_000, idle: 60_000 };

/**
 * Servers from 17 on may limit whole transactions, too, by the role or the database. Ours are limited by their
 * statements and by how long they are idle.
 */
export const noTransactionLimit =
  "(select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout')";

/**
 * A connection that was silent for this long is probed, so that a server that is cut off is noticed, and no firewall
 * forgets the connection, ms.
 */
export const probeMs = 10_000;
