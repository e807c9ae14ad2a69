import type { Generated, Selectable } from "kysely";
import type { AlertPhase } from "../model/alert.ts";
import type { AlertType } from "../model/alert-rule.ts";
import type { NoticeChannel, NoticeState } from "../model/notice.ts";

/**
 * What rules found, in the order of their commits. Those of a removed device are deleted by and by; every question
 * leaves them out at once.
 */
export interface AlertTable {
  key: Generated<number>;
  id: string;
  device: number;
  rule: number;
  rule_id: string;
  name: string;
  type: AlertType;
  phase: AlertPhase;
  time: number;
  /**
   * What tells alerts of a rule apart that lie at one time. Of one that was withdrawn: its id, so that it can be raised
   * again.
   */
  subject: string;
  raised_at: number;
  latitude: number | null;
  longitude: number | null;
  speed: number | null;
  critical: number;
  late: number;
  facts: string;
  text: string;
  /** Channels by which somebody was really told, a bit for each. */
  channels: number;
  /** Its device's; null: the device was gone when the column was made. */
  account: number | null;
  /** 0: open, 1: acknowledged, 2: closed. */
  state: number;
  /** Event time of the end of what it tells; null: it goes on, or nobody knows. */
  ended_at: number | null;
  acknowledged_at: number | null;
  acknowledged_by: string | null;
  acknowledged_note: string | null;
  closed_at: number | null;
  /** Null: it closed by itself. */
  closed_by: string | null;
  closed_note: string | null;
}

/** The outbox. Those of a removed device as in `alert`. */
export interface NoticeTable {
  key: Generated<number>;
  id: string;
  /** Public id of its alert. */
  alert: string;
  device: number;
  channel: NoticeChannel;
  target: string;
  state: NoticeState;
  reason: string | null;
  creation: number;
  due_at: number;
  attempts: number;
  /** Not null: its state is final. */
  finished_at: number | null;
  peer_id: string | null;
  counted_day: string | null;
  /** Places that it holds of that day; meaningless without one. */
  counted_places: Generated<number>;
  /** How often it was sent again by hand. */
  resends: Generated<number>;
  /** The run of a service that works on it, while it is being sent. Empty: one of an older version. */
  owner: Generated<string>;
  /** How often the owner had renewed its claims when it renewed this one last. */
  lease: Generated<number>;
}

/** Pauses between messages to a recipient about the same: see `NoticePause`. */
export interface NoticePauseTable {
  /** What it is about and who is told, hashed. */
  subject: string;
  data: string;
  /** When a message about it was last wanted. */
  asked_at: number;
}

/** A mute of a device or of a rule; the other of the two columns is null. */
export interface MuteTable {
  key: Generated<number>;
  account: number;
  device: number | null;
  /** Public id. */
  rule: string | null;
  since: number;
  until: number;
  user: string;
  note: string | null;
  critical: number;
}

/** A mute as read. */
export type MuteRow = Selectable<MuteTable>;
/** An alert as read. */
export type AlertRow = Selectable<AlertTable>;
/** What becomes of an alert after it was written. */
type LaterOfAlert = "ended_at" | `acknowledged_${"at" | "by" | "note"}` | `closed_${"at" | "by" | "note"}`;
/** An alert as written. The engine adds its account. */
export type NewAlertRow = Omit<AlertRow, "key" | "account" | LaterOfAlert>;
/** A notice as read. */
export type NoticeRow = Selectable<NoticeTable>;
/** A notice as written. */
export type NewNoticeRow = Omit<NoticeRow, "key" | "owner" | "lease">;
