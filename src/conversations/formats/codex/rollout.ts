/**
 * A rollout's lines are `{timestamp, type, payload}`. A `compacted` record replaces the history, a
 * rollback removes turns. Sources: Codex's protocol (codex-rs/protocol: RolloutItem, ResponseItem),
 * rollouts in public repositories' tests.
 */
import { getNoteText } from '../../notes';
import type { ConversationNote } from '../../types';
import { isRecord } from '../../../core/messages/blocks';
import { extractPersonText } from '../../../core/messages/personText';
import { type JsonRecord, readJsonLineRecords } from '../../text/jsonLines';
import { type Line, readLines } from '../../text/lines';
import type { EarlierRecords } from '../format';
import { ITEM_USE_IN_PROMPT_BY_KIND, RECORD_TYPES_NOT_SENT_TO_MODEL } from './kinds';
import { type Fields, readList, readNumber, readRecord, readString, readTime } from '../../text/values';
import type { RecordedRequest, RecordedSession } from '../../../core/account/recordedRequest';
import { CodexRequests } from './usage';

export interface RequestWithItem {
  readonly request: RecordedRequest;
  readonly item: CodexItem | undefined;
}

export interface CodexCompaction {
  readonly item: CodexItem | undefined;
  readonly at: number | undefined;
}

export type CodexItem = Fields;

export interface CodexRollout {
  readonly id: string | undefined;
  readonly parent: string | undefined;
  readonly workspace: string | undefined;
  readonly instructions: string | undefined;
  /** Items that the next request would contain. */
  readonly active: readonly CodexItem[];
  /** All items that were not rolled back, including summaries. */
  readonly allItems: readonly CodexItem[];
  readonly compactions: readonly CodexCompaction[];
  readonly requests: readonly RequestWithItem[];
  readonly session: RecordedSession;
  /** True if `requests` includes those of compactions. */
  readonly hasCompactions: boolean;
  readonly rolledBack: number;
  /** Number of records outside the conversation, by kind of record. */
  readonly skippedByKind: ReadonlyMap<string, number>;
  /** Number of records of unknown kinds, by kind of record. */
  readonly unknown: ReadonlyMap<string, number>;
  readonly declarations: number;
  /** In a fork, the last item that comes from its origin. */
  readonly lastInherited: CodexItem | undefined;
  readonly notes: readonly ConversationNote[];
}

/**
 * @param earlierRecords records of the rollouts that this one was forked from
 * @throws {ConversationReadError} if no line can be read
 */
export function parseRollout(
  lines: Iterable<Line>,
  source: string,
  earlierRecords: readonly EarlierRecords[] = [],
): CodexRollout {
  const notes: ConversationNote[] = [];
  const reader = new RolloutReader();
  for (const earlierRecord of earlierRecords) {
    if ('missing' in earlierRecord) {
      notes.push(`This is a fork, and its beginning was not found: it should be in ${earlierRecord.missing}.`);
      continue;
    }
    const earlierNotes: ConversationNote[] = [];
    readJsonLineRecords(
      readLines(earlierRecord.bytes, earlierRecord.file),
      earlierRecord.file,
      earlierNotes,
      ({ value }) => {
        if ((readNumber(value, 'ordinal') ?? 0) < earlierRecord.end) reader.inheritRecord(value);
      },
    );
    notes.push(
      ...earlierNotes.map((note) => {
        const text = `In the beginning, ${earlierRecord.file}: ${getNoteText(note)}`;
        return typeof note === 'string' ? text : { damage: text };
      }),
    );
  }
  reader.beginOwnRecords();
  readJsonLineRecords(lines, source, notes, (record) => {
    reader.takeRecord(record);
  });
  return { ...reader.getResult(), notes };
}

/** A header is no item: it has an id but no type. */
const isItemWithoutEnvelope = (value: Fields): boolean =>
  value['payload'] === undefined && typeof value['type'] === 'string';

class RolloutReader {
  private header: Fields | undefined;
  private activeItems: CodexItem[] = [];
  private allItems: CodexItem[] = [];
  private readonly compactions: CodexCompaction[] = [];
  private readonly usage = new CodexRequests();
  /** For each request, the item that precedes its token counts. */
  private readonly itemByRequest: (CodexItem | undefined)[] = [];
  private rolledBackTurns = 0;
  private readonly skippedByKind = new Map<string, number>();

  private readonly unknownByKind = new Map<string, number>();
  private declarationCount = 0;
  private lastInheritedItem: CodexItem | undefined;

  /**
   * Skips requests and records that are not sent, since they are reported for the original rollout.
   */
  inheritRecord(value: Fields): void {
    const payload = readRecord(value, 'payload');
    if (!payload) return;
    const kind = getItemType(value);
    if (kind === 'response_item' && ITEM_USE_IN_PROMPT_BY_KIND[getItemType(payload)] === 'sent') this.readItem(payload);
    else if (kind === 'inter_agent_communication') this.readCommunication(payload);
    else if (kind === 'compacted') this.readCompaction(payload, readTime(value, 'timestamp'));
    else if (kind === 'event_msg' && payload['type'] === 'thread_rolled_back') this.applyRollback(payload);
  }

  beginOwnRecords(): void {
    this.lastInheritedItem = this.allItems.at(-1);
    this.rolledBackTurns = 0;
    this.compactions.splice(0);
  }

  takeRecord({ value }: JsonRecord): void {
    this.usage.takeRecord(value);
    if (this.usage.requests.length > this.itemByRequest.length) this.itemByRequest.push(this.allItems.at(-1));
    const payload = readRecord(value, 'payload');
    if (!payload) {
      if (isItemWithoutEnvelope(value)) this.readItem(value);
      else if (value['record_type'] === undefined) this.header ??= value;
      return;
    }
    switch (value['type']) {
      case 'session_meta':
        // A forked session repeats its origin's header after its own.
        this.header ??= payload;
        return;
      case 'response_item':
        this.readItem(payload);
        return;
      case 'compacted':
        this.readCompaction(payload, readTime(value, 'timestamp'));
        return;
      case 'event_msg':
        if (payload['type'] === 'thread_rolled_back') this.applyRollback(payload);
        else this.countSkippedRecord(`event ${getItemType(payload)}`);
        return;
      case 'inter_agent_communication':
        this.readCommunication(payload);
        return;
      default:
        if (RECORD_TYPES_NOT_SENT_TO_MODEL.has(getItemType(value))) this.countSkippedRecord(getItemType(value));
        else countKind(this.unknownByKind, getItemType(value));
    }
  }

  getResult(): Omit<CodexRollout, 'notes'> {
    const header = this.header ?? {};
    const spawn = readRecord(readRecord(readRecord(header, 'source') ?? {}, 'subagent') ?? {}, 'thread_spawn');
    const baseInstructions = readRecord(header, 'base_instructions');
    return {
      id: readString(header, 'id'),
      parent: spawn && readString(spawn, 'parent_thread_id'),
      workspace: readString(header, 'cwd'),
      instructions: (baseInstructions && readString(baseInstructions, 'text')) ?? readString(header, 'instructions'),
      active: this.activeItems,
      allItems: this.allItems,
      compactions: this.compactions,
      requests: this.usage.requests.map((request, index) => ({ request, item: this.itemByRequest[index] })),
      session: this.usage.session,
      hasCompactions: this.usage.hasCompactions,
      rolledBack: this.rolledBackTurns,
      skippedByKind: this.skippedByKind,
      unknown: this.unknownByKind,
      declarations: this.declarationCount,
      lastInherited: this.lastInheritedItem,
    };
  }

  private readItem(item: CodexItem): void {
    switch (ITEM_USE_IN_PROMPT_BY_KIND[getItemType(item)]) {
      case 'sent':
        this.activeItems.push(item);
        this.allItems.push(item);
        return;
      case 'declarations':
        this.declarationCount += 1;
        return;
      case 'not-sent':
        this.countSkippedRecord(getItemType(item));
        return;
      case undefined:
        countKind(this.unknownByKind, `item ${getItemType(item)}`);
    }
  }

  /** Codex turns a message from another agent of the thread into an `agent_message`. */
  private readCommunication(payload: Fields): void {
    const text = readString(payload, 'content');
    if (text === undefined || text === '') this.countSkippedRecord('inter_agent_communication');
    else this.readItem({ type: 'agent_message', author: payload['author'], content: [{ type: 'input_text', text }] });
  }

  private readCompaction(payload: Fields, at: number | undefined): void {
    this.compactions.push({ item: this.allItems.at(-1), at });
    const text = readString(payload, 'message') ?? '';
    const summary: CodexItem = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text }],
      isSummary: true,
    };
    if (text !== '') this.allItems.push(summary);
    const replacement = payload['replacement_history'];
    // Before 2025-11 Codex stored no replacement, but rebuilt the history from the user's words and
    // the summary.
    this.activeItems = Array.isArray(replacement)
      ? replacement
          .filter(isRecord)
          .filter((item) => (ITEM_USE_IN_PROMPT_BY_KIND[getItemType(item)] ?? 'sent') === 'sent')
      : [...this.activeItems.filter((item) => item['role'] === 'user' && item['isSummary'] !== true), summary];
  }

  private applyRollback(payload: Fields): void {
    const turnCount = typeof payload['num_turns'] === 'number' ? payload['num_turns'] : 0;
    this.rolledBackTurns += turnCount;
    this.activeItems = dropLastTurns(this.activeItems, turnCount);
    this.allItems = dropLastTurns(this.allItems, turnCount);
  }

  private countSkippedRecord(kind: string): void {
    countKind(this.skippedByKind, kind);
  }
}

function countKind(kinds: Map<string, number>, kind: string): void {
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
}

const getItemType = (value: Fields): string => readString(value, 'type') ?? 'unnamed';

/** A turn begins with what the user typed. */
function dropLastTurns(items: readonly CodexItem[], turns: number): CodexItem[] {
  let firstDroppedIndex = items.length;
  let remainingTurns = turns;
  for (let index = items.length - 1; index >= 0 && remainingTurns > 0; index -= 1) {
    const item = items[index];
    if (!item || !isTypedByUser(item)) continue;
    firstDroppedIndex = index;
    remainingTurns -= 1;
  }
  return items.slice(0, firstDroppedIndex);
}

function isTypedByUser(item: CodexItem): boolean {
  if (item['role'] !== 'user' || item['isSummary'] === true) return false;
  const texts = readList(item, 'content').map((part) => (isRecord(part) ? readString(part, 'text') : undefined));
  // The user may send an image without text.
  return texts.some((text) => text === undefined || extractPersonText(text) !== '');
}
