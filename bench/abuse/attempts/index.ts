import type { Attempt } from "../attempt.ts";
import { newestFirst, randomOrder } from "./backlog.ts";
import { deepBody, deepObject, growingPatch, hardTexts, longPatch } from "./bodies.ts";
import { burst } from "./burst.ts";
import { futureClock, oldClock, stuckClock } from "./clocks.ts";
import { damagedPage } from "./damaged-page.ts";
import { halfOpenMany, halfOpenOne } from "./half-open.ts";
import { idleSockets } from "./idle-sockets.ts";
import { inventedIds } from "./invented-ids.ts";
import { junkBytes, longReports, pings, truncated, wrongChecksum } from "./junk.ts";
import { largeGroups, largeRecords } from "./large-groups.ts";
import { largeZones } from "./large-zones.ts";
import { lateFixes } from "./late-fixes.ts";
import { longTexts } from "./long-texts.ts";
import { mailHangs } from "./mail-hangs.ts";
import { manyLogins } from "./many-logins.ts";
import { metadata } from "./metadata.ts";
import { notFinite } from "./not-finite.ts";
import { pipelinedReports } from "./pipelined-reports.ts";
import { manyDevices, manyGeofences, manyUsers } from "./quotas.ts";
import { rulesAndWebhooks } from "./rules-and-webhooks.ts";
import { slowRequests } from "./slow-requests.ts";
import { takeover } from "./takeover.ts";
import { knocks, udpInvented, udpJunk } from "./udp-flood.ts";
import { greedyHistories, unreadHistories, unreadLists } from "./unread.ts";
import { usersAtOnce } from "./users-at-once.ts";
import { badTokens, wrongKeys } from "./ways-in.ts";
import { endlessWebhook, redirectingWebhook, silentWebhook, slowWebhook } from "./webhooks.ts";

/** Every attempt, in the order of a run. */
export const attempts: readonly Attempt[] = [
  burst,
  pipelinedReports,
  longTexts,
  rulesAndWebhooks,
  lateFixes,
  newestFirst,
  randomOrder,
  stuckClock,
  futureClock,
  oldClock,
  largeGroups,
  largeRecords,
  largeZones,
  unreadLists,
  unreadHistories,
  greedyHistories,
  idleSockets,
  slowRequests,
  manyLogins,
  halfOpenOne,
  halfOpenMany,
  junkBytes,
  pings,
  truncated,
  wrongChecksum,
  longReports,
  udpJunk,
  udpInvented,
  knocks,
  inventedIds,
  badTokens,
  wrongKeys,
  usersAtOnce,
  notFinite,
  takeover,
  manyDevices,
  manyUsers,
  manyGeofences,
  deepBody,
  deepObject,
  longPatch,
  growingPatch,
  hardTexts,
  metadata,
  silentWebhook,
  slowWebhook,
  endlessWebhook,
  redirectingWebhook,
  mailHangs,
  damagedPage,
];
