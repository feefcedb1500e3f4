/**
 * Records of a Claude Code transcript are a tree by `parentUuid`, and a rewind starts a new branch.
 * Resuming reads from the newest message up to the last compact boundary. Sources: transcripts of
 * 2.0.76 to 2.1.39; for messages that a compaction keeps, public descriptions.
 */
import { findRecordAboveGap } from '../../text/jsonLines';
import type { ClaudeCodeRecord } from './record';

export interface ActiveBranch {
  readonly records: readonly ClaudeCodeRecord[];
  /** Number of records that resuming would not read. */
  readonly skippedCount: number;
  /** The first record whose parent isn't in the file. */
  readonly orphan?: ClaudeCodeRecord;
}

const isCompactionBoundary = (record: ClaudeCodeRecord): boolean => record.subtype === 'compact_boundary';

export function findActiveBranch(thread: readonly ClaudeCodeRecord[]): ActiveBranch {
  const leaf = thread.findLast(({ message }) => message !== undefined);
  if (!leaf) return { records: [], skippedCount: 0 };
  if (leaf.uuid === undefined) return toLinearBranch(thread);
  const byUuid = new Map<string, ClaudeCodeRecord>();
  const rewritten = new Map<string, ClaudeCodeRecord[]>();
  for (const record of thread) {
    if (record.uuid === undefined) continue;
    const sameUuid = byUuid.get(record.uuid);
    if (sameUuid) rewritten.set(record.uuid, [...(rewritten.get(record.uuid) ?? []), sameUuid]);
    byUuid.set(record.uuid, record);
  }
  /** UUIDs can repeat: the newest record before the child is its parent. */
  const findParent = (uuid: string, { line }: ClaudeCodeRecord): ClaudeCodeRecord | undefined => {
    const newest = byUuid.get(uuid);
    if (!newest || newest.line < line) return newest;
    return rewritten.get(uuid)?.findLast((record) => record.line < line) ?? newest;
  };
  const preserved = readPreservedMessages(thread, byUuid);

  const path: ClaudeCodeRecord[] = [];
  const seen = new Set<ClaudeCodeRecord>();
  const uuids = new Set<string>();
  let firstBoundary: ClaudeCodeRecord | undefined;
  let orphan: ClaudeCodeRecord | undefined;
  let at: ClaudeCodeRecord | undefined = findLastAttachment(preserved.findTail(leaf), thread);
  while (at && !seen.has(at)) {
    const record: ClaudeCodeRecord = at;
    seen.add(record);
    // Messages that a compaction wrote again are read where it put them.
    if (record.uuid === undefined || !uuids.has(record.uuid)) path.push(record);
    if (record.uuid !== undefined) uuids.add(record.uuid);
    if (isCompactionBoundary(record)) {
      firstBoundary ??= record;
      at = findRecordBeforeBoundary(record, thread, preserved.records);
    } else {
      const parent = preserved.getParent(record) ?? record.parent;
      at = parent === undefined ? undefined : findParent(parent, record);
      // A damaged line may have contained the parent or the link to it.
      if (parent !== undefined || record.gap === record.line) at ??= findRecordAboveGap([...byUuid.values()], record);
      if (parent !== undefined && !at) orphan ??= record;
    }
  }
  path.reverse();
  return {
    records: path,
    skippedCount: firstBoundary ? path.indexOf(firstBoundary) : 0,
    ...(orphan && { orphan }),
  };
}

/** The next request includes attachments after the newest message. */
function findLastAttachment(leaf: ClaudeCodeRecord, thread: readonly ClaudeCodeRecord[]): ClaudeCodeRecord {
  let last = leaf;
  for (let at = thread.indexOf(leaf) + 1; at < thread.length; at += 1) {
    const record = thread[at];
    if (record?.uuid !== undefined && record.message === undefined && record.parent === last.uuid) last = record;
  }
  return last;
}

/** Records of a stream have no UUIDs and are already in order. */
function toLinearBranch(thread: readonly ClaudeCodeRecord[]): ActiveBranch {
  return { records: thread, skippedCount: Math.max(0, thread.findLastIndex(isCompactionBoundary)) };
}

/**
 * A compact boundary has only a logical parent, which may be missing or, for a `precomputed`
 * compaction, be a message below it. Everything above it was written earlier.
 */
function findRecordBeforeBoundary(
  boundary: ClaudeCodeRecord,
  thread: readonly ClaudeCodeRecord[],
  preserved: readonly ClaudeCodeRecord[],
): ClaudeCodeRecord | undefined {
  const earlier = thread.slice(0, thread.indexOf(boundary));
  const findEarlier = (uuid: string | undefined): ClaudeCodeRecord | undefined =>
    uuid === undefined ? undefined : earlier.findLast((record) => record.uuid === uuid);
  const before = findEarlier(boundary.logicalParent) ?? earlier.findLast(({ message }) => message !== undefined);
  if (!before || !preserved.some(({ uuid }) => uuid === before.uuid)) return before;
  // The preserved messages moved below the boundary.
  const [first] = preserved;
  return findEarlier((findEarlier(first?.uuid) ?? first)?.parent);
}

interface PreservedMessages {
  readonly records: readonly ClaudeCodeRecord[];
  readonly getParent: (record: ClaudeCodeRecord) => string | undefined;
  /** The last preserved message if nothing was said since, else the record itself. */
  readonly findTail: (leaf: ClaudeCodeRecord) => ClaudeCodeRecord;
}

/**
 * Messages kept by a compaction (`compactMetadata.preservedMessages`, earlier `preservedSegment`)
 * precede the boundary in the file but follow its anchor: the first links to the anchor, each to
 * the previous one, and the anchor's children to the last. Only the last boundary counts, because
 * it compacted what older ones kept.
 */
function readPreservedMessages(
  thread: readonly ClaudeCodeRecord[],
  byUuid: ReadonlyMap<string, ClaudeCodeRecord>,
): PreservedMessages {
  const boundary = thread.findLast(isCompactionBoundary);
  const records = boundary?.preserved ? readPreservedSegment(boundary, byUuid) : [];
  const anchor = boundary?.preserved?.anchor;
  const tail = records.at(-1);
  const parents = new Map<string | undefined, string | undefined>();
  records.forEach((record, index) => parents.set(record.uuid, index === 0 ? anchor : records[index - 1]?.uuid));
  return {
    records,
    getParent: (record) => {
      if (parents.has(record.uuid)) return parents.get(record.uuid);
      return tail && record.parent === anchor ? tail.uuid : undefined;
    },
    findTail: (leaf) => (tail && leaf.uuid === anchor ? tail : leaf),
  };
}

function readPreservedSegment(
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
  // Without the head it is unknown what was kept, so nothing moves.
  return [];
}
