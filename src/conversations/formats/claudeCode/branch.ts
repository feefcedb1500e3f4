/**
 * Which records of a Claude Code transcript are the conversation. Records form a tree by `parentUuid`: a rewind starts a
 * new branch beside the old one. What resuming would read is the path from the newest message up to the root, and of it
 * what follows the last compact boundary. Sources: the transcripts themselves (2.0.76 to 2.1.39), and for messages that
 * a compaction keeps, public descriptions of how Claude Code relinks them when it loads a session.
 */
import { recordAboveGap } from '../../text/jsonLines';
import type { ClaudeCodeRecord } from './record';

export interface Branch {
  /** In the order of the conversation, oldest first; records without a message included. */
  readonly records: readonly ClaudeCodeRecord[];
  /** How many of them stand before what resuming would read. */
  readonly before: number;
  /** The first record whose parent isn't in the file. */
  readonly rootless?: ClaudeCodeRecord;
}

const isBoundary = (record: ClaudeCodeRecord): boolean => record.subtype === 'compact_boundary';

/** @param thread records of one thread (the main one, or one subagent's), in the order of the file */
export function activeBranch(thread: readonly ClaudeCodeRecord[]): Branch {
  const leaf = thread.findLast(({ message }) => message !== undefined);
  if (!leaf) return { records: [], before: 0 };
  if (leaf.uuid === undefined) return linear(thread);
  const byUuid = new Map<string, ClaudeCodeRecord>();
  for (const record of thread) if (record.uuid !== undefined) byUuid.set(record.uuid, record);
  const preserved = preservedMessages(thread, byUuid);

  const path: ClaudeCodeRecord[] = [];
  const seen = new Set<ClaudeCodeRecord>();
  let firstBoundary: ClaudeCodeRecord | undefined;
  let rootless: ClaudeCodeRecord | undefined;
  let at: ClaudeCodeRecord | undefined = attachedBehind(preserved.tailBehind(leaf), thread);
  // The set ends the walk in files whose links run in circles.
  while (at && !seen.has(at)) {
    const record: ClaudeCodeRecord = at;
    seen.add(record);
    path.push(record);
    if (isBoundary(record)) {
      firstBoundary ??= record;
      at = beforeBoundary(record, thread, byUuid, preserved.records);
    } else {
      const parent = preserved.parentOf(record) ?? record.parent;
      at = parent === undefined ? undefined : byUuid.get(parent);
      // A damaged line may have held the parent, or the record's own link to it.
      if (parent !== undefined || record.gap === record.line) at ??= recordAboveGap([...byUuid.values()], record);
      if (parent !== undefined && !at) rootless ??= record;
    }
  }
  path.reverse();
  return {
    records: path,
    before: firstBoundary ? path.indexOf(firstBoundary) : 0,
    ...(rootless && { rootless }),
  };
}

/** The last of the attachments that hang behind the newest message: they go out with the next request. */
function attachedBehind(leaf: ClaudeCodeRecord, thread: readonly ClaudeCodeRecord[]): ClaudeCodeRecord {
  let last = leaf;
  for (let at = thread.indexOf(leaf) + 1; at < thread.length; at += 1) {
    const record = thread[at];
    if (record?.uuid !== undefined && record.message === undefined && record.parent === last.uuid) last = record;
  }
  return last;
}

/** Records without uuids (as a stream prints them) are in order as they stand. */
function linear(thread: readonly ClaudeCodeRecord[]): Branch {
  return { records: thread, before: Math.max(0, thread.findLastIndex(isBoundary)) };
}

/**
 * Where the history goes on above a boundary: it has no parent, only a logical one. That may not be in the file; and of a compaction
 * that was prepared beforehand (`precomputed`) it may be a kept message that is written behind the boundary, from where parents
 * lead back to it. What stands above a boundary was written before it.
 */
function beforeBoundary(
  boundary: ClaudeCodeRecord,
  thread: readonly ClaudeCodeRecord[],
  byUuid: ReadonlyMap<string, ClaudeCodeRecord>,
  preserved: readonly ClaudeCodeRecord[],
): ClaudeCodeRecord | undefined {
  const above = (uuid: string | undefined): ClaudeCodeRecord | undefined => {
    const record = uuid === undefined ? undefined : byUuid.get(uuid);
    return record && record.line < boundary.line ? record : undefined;
  };
  const index = thread.indexOf(boundary);
  const before =
    above(boundary.logicalParent) ?? thread.findLast((record, at) => at < index && record.message !== undefined);
  // The preserved messages have moved below the boundary: go on above the first of them.
  return before && preserved.includes(before) ? above(preserved[0]?.parent) : before;
}

interface PreservedMessages {
  readonly records: readonly ClaudeCodeRecord[];
  /** The parent that a record has once the preserved messages stand where the compaction put them. */
  readonly parentOf: (record: ClaudeCodeRecord) => string | undefined;
  /** The last preserved message where nothing has been said since, else the record itself. */
  readonly tailBehind: (leaf: ClaudeCodeRecord) => ClaudeCodeRecord;
}

/**
 * A compaction can keep some messages verbatim (`compactMetadata.preservedMessages`, before that `preservedSegment`). They
 * stand above the boundary in the file and belong behind its anchor: the first is linked to the anchor, each to the one
 * before it, and what hung at the anchor hangs at the last. Only the last boundary counts: an older one's were compacted.
 */
function preservedMessages(
  thread: readonly ClaudeCodeRecord[],
  byUuid: ReadonlyMap<string, ClaudeCodeRecord>,
): PreservedMessages {
  const boundary = thread.findLast(isBoundary);
  const records = boundary?.preserved ? segment(boundary, byUuid) : [];
  const anchor = boundary?.preserved?.anchor;
  const tail = records.at(-1);
  const parents = new Map<string | undefined, string | undefined>();
  records.forEach((record, index) => parents.set(record.uuid, index === 0 ? anchor : records[index - 1]?.uuid));
  return {
    records,
    parentOf: (record) => {
      if (parents.has(record.uuid)) return parents.get(record.uuid);
      return tail && record.parent === anchor ? tail.uuid : undefined;
    },
    tailBehind: (leaf) => (tail && leaf.uuid === anchor ? tail : leaf),
  };
}

function segment(
  { preserved }: ClaudeCodeRecord,
  byUuid: ReadonlyMap<string, ClaudeCodeRecord>,
): readonly ClaudeCodeRecord[] {
  if (!preserved || !byUuid.has(preserved.anchor)) return [];
  if (preserved.uuids.length > 0) {
    return preserved.uuids.map((uuid) => byUuid.get(uuid)).filter((record) => record !== undefined);
  }
  const records: ClaudeCodeRecord[] = [];
  let at = preserved.tail === undefined ? undefined : byUuid.get(preserved.tail);
  while (at && !records.includes(at)) {
    records.unshift(at);
    if (at.uuid === preserved.head) return records;
    at = at.parent === undefined ? undefined : byUuid.get(at.parent);
  }
  // The walk missed the head: what was kept can't be told, so nothing is moved.
  return [];
}
