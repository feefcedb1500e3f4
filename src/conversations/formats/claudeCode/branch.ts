/**
 * Records of a Claude Code transcript are a tree by `parentUuid`; a rewind starts a new branch.
 * Resuming reads from the newest message back to the last compact boundary. Sources: transcripts of
 * 2.0.76 to 2.1.39, public descriptions.
 */
import { findRecordBeforeGap } from '../../text/jsonLines';
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
  const olderVersions = new Map<string, ClaudeCodeRecord[]>();
  for (const record of thread) {
    if (record.uuid === undefined) continue;
    const olderVersion = byUuid.get(record.uuid);
    if (olderVersion) olderVersions.set(record.uuid, [...(olderVersions.get(record.uuid) ?? []), olderVersion]);
    byUuid.set(record.uuid, record);
  }
  /** UUIDs can repeat: the newest record before the child is its parent. */
  const findParent = (uuid: string, { line }: ClaudeCodeRecord): ClaudeCodeRecord | undefined => {
    const newestVersion = byUuid.get(uuid);
    if (!newestVersion || newestVersion.line < line) return newestVersion;
    return olderVersions.get(uuid)?.findLast((record) => record.line < line) ?? newestVersion;
  };
  const preservedMessages = readPreservedMessages(thread, byUuid);

  const branchRecords: ClaudeCodeRecord[] = [];
  const seenRecords = new Set<ClaudeCodeRecord>();
  const uuids = new Set<string>();
  let firstBoundary: ClaudeCodeRecord | undefined;
  let firstOrphan: ClaudeCodeRecord | undefined;
  let nextRecord: ClaudeCodeRecord | undefined = findLastAttachment(preservedMessages.findTail(leaf), thread);
  while (nextRecord && !seenRecords.has(nextRecord)) {
    const record: ClaudeCodeRecord = nextRecord;
    seenRecords.add(record);
    // Messages that a compaction wrote again are read at their new place.
    if (record.uuid === undefined || !uuids.has(record.uuid)) branchRecords.push(record);
    if (record.uuid !== undefined) uuids.add(record.uuid);
    if (isCompactionBoundary(record)) {
      firstBoundary ??= record;
      nextRecord = findRecordBeforeBoundary(record, thread, preservedMessages.records);
    } else {
      const parent = preservedMessages.getParent(record) ?? record.parent;
      nextRecord = parent === undefined ? undefined : findParent(parent, record);
      // A damaged line may have contained the parent or the link to it.
      if (parent !== undefined || record.gap === record.line)
        nextRecord ??= findRecordBeforeGap([...byUuid.values()], record);
      if (parent !== undefined && !nextRecord) firstOrphan ??= record;
    }
  }
  branchRecords.reverse();
  return {
    records: branchRecords,
    skippedCount: firstBoundary ? branchRecords.indexOf(firstBoundary) : 0,
    ...(firstOrphan && { orphan: firstOrphan }),
  };
}

/** The next request includes attachments after the newest message. */
function findLastAttachment(leaf: ClaudeCodeRecord, thread: readonly ClaudeCodeRecord[]): ClaudeCodeRecord {
  let lastRecord = leaf;
  for (let index = thread.indexOf(leaf) + 1; index < thread.length; index += 1) {
    const record = thread[index];
    if (record?.uuid !== undefined && record.message === undefined && record.parent === lastRecord.uuid)
      lastRecord = record;
  }
  return lastRecord;
}

/** Records of a stream have no UUIDs and are already in order. */
function toLinearBranch(thread: readonly ClaudeCodeRecord[]): ActiveBranch {
  return { records: thread, skippedCount: Math.max(0, thread.findLastIndex(isCompactionBoundary)) };
}

/**
 * A compact boundary has only a logical parent. It may be missing or, for a `precomputed`
 * compaction, be below the boundary. Everything above was written earlier.
 */
function findRecordBeforeBoundary(
  boundary: ClaudeCodeRecord,
  thread: readonly ClaudeCodeRecord[],
  preservedRecords: readonly ClaudeCodeRecord[],
): ClaudeCodeRecord | undefined {
  const earlierRecords = thread.slice(0, thread.indexOf(boundary));
  const findEarlierRecord = (uuid: string | undefined): ClaudeCodeRecord | undefined =>
    uuid === undefined ? undefined : earlierRecords.findLast((record) => record.uuid === uuid);
  const recordBefore =
    findEarlierRecord(boundary.logicalParent) ?? earlierRecords.findLast(({ message }) => message !== undefined);
  if (!recordBefore || !preservedRecords.some(({ uuid }) => uuid === recordBefore.uuid)) return recordBefore;
  // The preserved messages moved below the boundary.
  const [firstPreserved] = preservedRecords;
  return findEarlierRecord((findEarlierRecord(firstPreserved?.uuid) ?? firstPreserved)?.parent);
}

interface PreservedMessages {
  readonly records: readonly ClaudeCodeRecord[];
  readonly getParent: (record: ClaudeCodeRecord) => string | undefined;
  /**
   * Returns the last preserved message if `leaf` is the anchor that these follow, or else `leaf`.
   */
  readonly findTail: (leaf: ClaudeCodeRecord) => ClaudeCodeRecord;
}

/**
 * Messages kept by a compaction (`compactMetadata.preservedMessages`, earlier `preservedSegment`)
 * precede the boundary in the file. They belong between its anchor and the anchor's children, each
 * as a child of the previous one. Only the last boundary counts, because it compacted what older
 * ones kept.
 */
function readPreservedMessages(
  thread: readonly ClaudeCodeRecord[],
  byUuid: ReadonlyMap<string, ClaudeCodeRecord>,
): PreservedMessages {
  const boundary = thread.findLast(isCompactionBoundary);
  const records = boundary?.preserved ? readPreservedSegment(boundary, byUuid) : [];
  const anchorUuid = boundary?.preserved?.anchor;
  const lastPreserved = records.at(-1);
  const parentByUuid = new Map<string | undefined, string | undefined>();
  records.forEach((record, index) =>
    parentByUuid.set(record.uuid, index === 0 ? anchorUuid : records[index - 1]?.uuid),
  );
  return {
    records,
    getParent: (record) => {
      if (parentByUuid.has(record.uuid)) return parentByUuid.get(record.uuid);
      return lastPreserved && record.parent === anchorUuid ? lastPreserved.uuid : undefined;
    },
    findTail: (leaf) => (lastPreserved && leaf.uuid === anchorUuid ? lastPreserved : leaf),
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
  let current = preserved.tail === undefined ? undefined : byUuid.get(preserved.tail);
  while (current && !records.includes(current)) {
    records.unshift(current);
    if (current.uuid === preserved.head) return records;
    current = current.parent === undefined ? undefined : byUuid.get(current.parent);
  }
  // Without the head it is unknown what was kept, so nothing moves.
  return [];
}
