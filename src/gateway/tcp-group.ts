import type { Source } from "./sources.ts";
import type { TcpConnection } from "./tcp-connection.ts";
import type { CloseCause } from "./types.ts";

/** What a connection tells those who count and sweep all of them. */
export interface TcpGroup {
  identified(connection: TcpConnection): void;
  /** A known device's request came over HTTP: the connection is of use, and bound to nobody. */
  renewed(connection: TcpConnection): void;
  refused(connection: TcpConnection): void;
  /** So many bytes more (or less) wait in memory. */
  buffered(change: number, source: Source): void;
  /** It is not read because the intake is full. */
  congested(connection: TcpConnection): void;
  /** It is not read because it was too fast. */
  throttled(connection: TcpConnection): void;
  closed(connection: TcpConnection, cause: CloseCause): void;
}
