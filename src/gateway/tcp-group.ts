import type { AnyProtocol } from "../wire/protocol.ts";
import type { Source } from "./sources.ts";
import type { CloseCause } from "./types.ts";

/** What a connection tells those who count and sweep all of them. */
export interface TcpGroup<Member> {
  identified(connection: Member): void;
  /** A known device's request came over HTTP: the connection is of use, and bound to nobody. */
  renewed(connection: Member): void;
  refused(connection: Member): void;
  /** So many bytes more (or less) wait in memory. */
  buffered(change: number, source: Source): void;
  /** It is not read because the intake is full. */
  congested(connection: Member): void;
  /** It is not read because it was too fast. */
  throttled(connection: Member): void;
  closed(connection: Member, cause: CloseCause): void;
}

/** Where a connection came in: what its address has in all, and the protocols that the port speaks. */
export interface Door {
  readonly source: Source;
  readonly protocols: readonly AnyProtocol[];
}
