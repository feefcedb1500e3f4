import type { IndexedConversation } from '../../background/conversationIndex';
import type { LedgerOutline, LedgersResult } from '../../background/taskResults';
import type { LedgerLookup } from './nodes';

/** Keeps ledgers, so that later requests read only those used since. */
export class LoadedLedgers implements LedgerLookup {
  private readonly byId = new Map<string, LedgerOutline>();
  private readonly byPath = new Map<string, LedgerOutline>();
  private givenBack: ReadonlyMap<string, string> = new Map();
  /**
   * For each file that was written when a conversation was given back, the ID of that conversation.
   */
  private originals: ReadonlyMap<string, string> = new Map();
  private newest = 0;

  /** Last use of the newest ledger that was read, in milliseconds since the epoch. */
  get since(): number {
    return this.newest;
  }

  applyLedgersResult({ known, ledgers, lastUsed, givenBack }: LedgersResult): void {
    const knownIds = new Set(known);
    for (const [id, { path }] of this.byId) {
      if (knownIds.has(id)) continue;
      this.byId.delete(id);
      if (path !== undefined && this.byPath.get(path)?.conversation === id) this.byPath.delete(path);
    }
    for (const ledger of ledgers) {
      this.byId.set(ledger.conversation, ledger);
      if (ledger.path !== undefined) this.byPath.set(ledger.path, ledger);
    }
    this.givenBack = new Map(givenBack.map(({ conversation, path }) => [conversation, path]));
    this.originals = new Map(givenBack.map(({ conversation, path }) => [path, conversation]));
    this.newest = lastUsed;
  }

  listLedgers(): LedgerOutline[] {
    return [...this.byId.values()];
  }

  isInUse(conversation: string): boolean {
    return this.givenBack.has(conversation);
  }

  findByPath(path: string): LedgerOutline | undefined {
    return this.byPath.get(path);
  }

  findLedger({ details, path }: IndexedConversation): LedgerOutline | undefined {
    return (details?.id === undefined ? undefined : this.byId.get(details.id)) ?? this.byPath.get(path);
  }

  givenBackAs(found: IndexedConversation): string | undefined {
    return this.givenBack.get(found.details?.id ?? this.findLedger(found)?.conversation ?? '');
  }
  /**
   * True for the condensed copy of a conversation. If the agent continues in the same file, there
   * is no copy.
   */
  isCopy(found: IndexedConversation): boolean {
    const original = this.originals.get(found.path);
    return original !== undefined && original !== found.details?.id;
  }
}
