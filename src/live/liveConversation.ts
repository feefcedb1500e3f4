import { randomUUID } from 'node:crypto';
import { Draft } from '../core/condense/draft/draft';
import type { OutcomeBase } from '../core/condense/condensation';
import { NEW_RESULTS } from '../core/condense/types';
import { lastByPlace, type Edit } from '../core/condense/edits/edits';
import {
  activeCondensations,
  isNewResults,
  viewHash,
  type NewResultsEntry,
  type Condensation,
  type CondensationId,
  type Ledger,
  type LedgerEntry,
  type PlacedMessage,
} from '../core/condense/ledger/ledger';
import { restoreReferences, RESTORED } from '../core/condense/lossless/integrity';
import { memoizeByObject } from '../core/memoizeByObject';
import { newViolations } from '../core/messages/firewall';
import { messageKey, type MessageKey } from '../core/messages/messageKey';
import type { ApiMessage } from '../core/messages/types';
import { isStorageError, collectOriginals } from '../storage/ledgerStore';
import { AnsweredRequests } from './answeredRequests';
import { followEdits, grown, keysOf, show, unedited, type Shown } from './followEdits';
import type { LiveLedger } from './liveLedger';
import { ownToolsOf } from './ownTools';
import type { LiveParts } from './types';
import type { CondensedResults, NewResultsState } from './newResults';
import type { Standing } from './preparation';
import { commonPrefix } from './align';
import type { AgentRequest, LiveId, UpstreamModel } from './request';
import { UseWatch } from './useWatch';
import type { Weighed } from './weight';
import { CallCounts, declaredTools, type DeclaredTool } from './toolWeights';
import { readTools } from './deferredTools';
import { optionalTokens } from './vendorReads';
import { isTooMuchUse, type UseAfter } from '../core/condense/ledger/use';

/** The part of a condensation that is kept. */
export type Made = Pick<Condensation, 'provider' | 'edits' | 'steps' | 'tokensBefore' | 'tokensAfter' | 'cost'> &
  Pick<OutcomeBase, 'configNames'> & { readonly alsoBy?: readonly string[] };

/** The provider that is told for edits which put back what a reference pointed at in vain. */
const RESTORING = 'restored-references';

export interface LiveAbout {
  readonly id: LiveId;
  readonly conversationId?: string;
  /** Key of the task that it began with. */
  readonly task: MessageKey;
  /** Its messages up to that task. */
  readonly beginning: readonly ApiMessage[];
  /** It is none that a person has. */
  readonly isAside?: boolean;
}

/** What the last request of a conversation said. */
interface Asked {
  readonly messages: readonly ApiMessage[];
  readonly model: UpstreamModel;
  readonly system: string | undefined;
  readonly title: string;
  /** Whether the agent has a tool that recalls what was taken out; undefined where it is not known to. */
  readonly canRecall: boolean | undefined;
  /** The tools that the model has, and their JSON. */
  readonly tools: readonly DeclaredTool[];
  readonly toolsJson: string;
  /** O200k tokens of what is counted beside the messages, and of those the tokens that may stay unread. */
  readonly overheadTokens: number;
  readonly optionalTokens: number;
  readonly overheadBytes: number;
  readonly isReadOtherwise: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * A conversation that an agent goes on with: its messages as last sent, its ledger, and the view that follows of both. What is to be
 * condensed of it, and when, is the scheduler's.
 */
export class LiveConversation {
  readonly id: LiveId;
  /** When it came here with answers that it had elsewhere, in milliseconds since the epoch; undefined: it began here. */
  resumed: number | undefined;
  /** Its calls, by tool. */
  readonly calls = new CallCounts();
  readonly answers = new AnsweredRequests();
  private asked: Asked | undefined;
  private current: Shown = unedited([]);
  /** Counts what was done to the view: what was prepared for the view before doesn't fit any more. */
  private revision = 0;
  /** Index of the first message that was not sent before. */
  private firstNew = 0;
  private watch: UseWatch | undefined;
  /** O200k tokens of a view's messages, which each request asks for several times. */
  private readonly viewTokens = memoizeByObject(({ messages }: Shown) => this.parts.counter.messages(messages));

  constructor(
    readonly about: LiveAbout,
    private readonly store: LiveLedger,
    private readonly parts: LiveParts,
  ) {
    this.id = about.id;
  }

  /** The conversation as the agent last sent it. */
  get messages(): readonly ApiMessage[] {
    return this.asked?.messages ?? [];
  }

  get shown(): Shown {
    return this.current;
  }

  /** @throws Error before the first request */
  get model(): UpstreamModel {
    if (!this.asked) throw new Error('The conversation has had no request yet.');
    return this.asked.model;
  }

  get system(): string | undefined {
    return this.asked?.system;
  }

  get title(): string {
    return this.asked?.title ?? '';
  }

  get canRecall(): boolean | undefined {
    return this.asked?.canRecall;
  }

  /** Milliseconds since the epoch. */
  get lastUsed(): number {
    return this.asked?.at ?? 0;
  }

  /** Whether it has had a request. */
  get hasBegun(): boolean {
    return this.asked !== undefined;
  }

  get ledger(): Ledger {
    return this.store.ledger;
  }

  /** O200k tokens of the system prompt, and of the tools that the model has. */
  get overheadTokens(): number {
    return this.asked?.overheadTokens ?? 0;
  }

  /** O200k tokens of all that would be sent. */
  get countedTokens(): number {
    return this.tokensWith(this.current);
  }

  /** O200k tokens of all that would be sent with a view. */
  tokensWith(shown: Shown): number {
    return this.overheadTokens + this.viewTokens(shown);
  }

  /** O200k tokens of those that would be sent that the vendor has to read; undefined where what it reports says nothing of the request. */
  get mustRead(): number | undefined {
    if (!this.asked || this.asked.isReadOtherwise) return undefined;
    const { messages } = this.current;
    return this.countedTokens - this.asked.optionalTokens - optionalTokens(messages, this.parts.counter);
  }

  /** The tools of the last request, as far as the model has them. */
  get tools(): readonly DeclaredTool[] {
    return this.asked?.tools ?? [];
  }

  /** The request as it would be sent, for its bytes. */
  get weighed(): Weighed {
    const { messages: original, pinned, asked } = this;
    return { original, view: this.current.messages, besideBytes: asked?.overheadBytes ?? 0, pinned };
  }

  /** The conversation as it now stands, for what is prepared from it. */
  get standing(): Standing {
    return { revision: this.revision, original: this.messages, view: this.current.messages };
  }

  /**
   * Whether the conversation goes on from what it was. An agent that asks something beside the task and then goes on with it leaves what
   * was prepared as it is.
   */
  stillStands({ revision, original, view }: Standing): boolean {
    return (
      revision === this.revision &&
      commonPrefix(original, this.messages) === original.length &&
      commonPrefix(view, this.current.messages) === view.length
    );
  }

  /** The agent's later requests for removed content; undefined where they were not watched. */
  useOf(id: CondensationId): UseAfter | undefined {
    return this.watch?.id === id ? this.watch.use : this.ledger.uses.get(id);
  }

  /** The agent asked for so much again that only what stands elsewhere is taken out. It ends with the condensation's undo. */
  get isCareful(): boolean {
    const { uses, undone } = this.ledger;
    return [...uses].some(([id, use]) => !undone.has(id) && isTooMuchUse(use));
  }

  /** Indexes of the messages that a person pinned. */
  get pinned(): ReadonlySet<number> {
    const indexes = new Set<number>();
    for (const { message, key } of this.ledger.pinned) {
      const index = this.isAt(message, key) ? message : this.messages.findIndex((other) => messageKey(other) === key);
      if (index >= 0) indexes.add(index);
    }
    return indexes;
  }

  /** Takes in a request: what the conversation says now, and what the model is to see of it. */
  async follow(request: AgentRequest): Promise<void> {
    const { clock, counter } = this.parts;
    const { asked: before, messages: was } = this;
    const known = commonPrefix(was, request.messages);
    const added = request.messages.slice(known);
    const messages = [...was.slice(0, known), ...added];
    // All before the model's last answer was sent for it, also by another process or in other words.
    const answered = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
    if (!before && answered > 0) this.resumed = clock.now();
    this.asked = readRequest({ ...request, messages }, before, this.parts);
    this.firstNew = Math.max(answered, before ? known : 0, this.firstUnnamed(answered));
    this.calls.follow(messages);
    const hasGrown = before !== undefined && known === was.length;
    if (hasGrown) this.current = grown(this.current, added, known);
    else if (!this.showAnew()) await this.restoreReferences();
    await this.watchUse(hasGrown);
    for (const message of this.current.messages) {
      counter.message(message);
    }
  }

  /** The view before its new results are condensed; undefined where a person took back that they are. */
  get newResults(): NewResultsState | undefined {
    return this.ledger.undone.has(this.newResultsId) ? undefined : { shown: this.current, firstNew: this.firstNew };
  }

  /** Shows what is left out of new results. Originals and entry are written meanwhile ({@link settled}). */
  keepNewResults({ edits, rereads, shown, saved }: CondensedResults): void {
    const { messages } = this;
    const { counter, clock, emit } = this.parts;
    const changed = new Set(edits.map(({ place }) => place.message));
    const changedTokens = counter.messages([...changed].map((message) => messages[message] as ApiMessage));
    const named = [...new Set([...changed, ...rereads])];
    const entry: NewResultsEntry = {
      type: 'arrived',
      condensation: this.newResultsId,
      at: new Date(clock.now()).toISOString(),
      arrivals: named.map((message) => ({ message, key: messageKey(messages[message] as ApiMessage) })),
      edits,
      ...(rereads.length > 0 && { rereads: rereads.length }),
      tokensBefore: changedTokens,
      tokensAfter: changedTokens - saved,
    };
    // The request does not wait for the disk: the agent has the results whole, so that all a crash costs is a cache.
    this.store.appendSoon(entry, collectOriginals(messages, edits), ({ message }) => {
      emit({ kind: 'problem', conversation: this.id, message });
    });
    this.current = shown;
  }

  /** Resolves once what was left out is on the disk, or is known not to get there. */
  settled(): Promise<void> {
    return this.store.settled();
  }

  /** The id of the one condensation that all new results of the conversation are. */
  private get newResultsId(): CondensationId {
    return `${NEW_RESULTS}-${this.id}` as CondensationId;
  }

  /**
   * Keeps a condensation and shows it. Once it returns, originals and entry are on the disk.
   * @param mustFit the request can't go out without it: where the disk is full it is kept in memory.
   * @returns undefined where its view isn't valid or could not be kept; then nothing has changed.
   */
  async record(made: Made, mustFit: boolean): Promise<CondensationId | undefined> {
    const { clock, emit } = this.parts;
    const shown = show(this.messages, lastByPlace([...this.current.edits, ...made.edits]));
    // The conversation may have grown since it was made.
    if (newViolations(this.messages, shown.messages, { origins: shown.origins }).length > 0) return undefined;
    const id = randomUUID() as string as CondensationId;
    const { provider, alsoBy, configNames = {}, edits, steps, tokensBefore, tokensAfter, cost } = made;
    const factor = this.parts.learning.factor(this.model);
    const condensation: Condensation = {
      provider,
      configName: configNames[provider],
      ...(alsoBy && { before: alsoBy.map((id) => ({ provider: id, configName: configNames[id] })) }),
      request: {
        tokensBefore: Math.ceil(this.countedTokens * factor),
        tokensAfter: Math.ceil(this.tokensWith(shown) * factor),
      },
      edits,
      steps,
      tokensBefore,
      tokensAfter,
      cost,
      id,
      at: new Date(clock.now()).toISOString(),
      base: 'view',
      viewHash: viewHash(shown.messages),
      messages: keysOf(this.messages),
    };
    const entry: LedgerEntry = { type: 'condensed', condensation };
    const originals = collectOriginals(this.messages, edits);
    try {
      await this.store.append(entry, originals);
    } catch (error) {
      if (!isStorageError(error)) throw error;
      emit({ kind: 'problem', conversation: this.id, message: error.message });
      if (!mustFit) return undefined;
      this.store.keepInMemory(entry, originals);
    }
    this.current = shown;
    this.revision++;
    if (provider !== RESTORING) {
      await this.keepUse();
      this.watch = this.lastWatch();
    }
    return id;
  }

  /**
   * Adds entries that a person asked for, and shows what follows from them.
   * @throws StorageError
   */
  async enter(entries: readonly LedgerEntry[]): Promise<void> {
    // Edits that restored references were made for the old view; those still needed are made anew.
    const restoring = activeCondensations(this.ledger).filter(isRestoring);
    for (const { id } of restoring) await this.store.append({ type: 'undone', condensation: id });
    for (const entry of entries) await this.store.append(entry);
    this.revision++;
    this.showAnew();
    await this.restoreReferences();
  }

  /** The originals of hashes, as far as they are kept. */
  readonly originals = (hashes: Parameters<LiveLedger['originals']>[0]): ReturnType<LiveLedger['originals']> =>
    this.store.originals(hashes);

  /** Counts what the agent did since the last condensation; keeps it once that is over. */
  private async watchUse(hasGrown: boolean): Promise<void> {
    if (!hasGrown) this.watch = this.lastWatch();
    this.watch?.follow(this.messages);
    if (this.watch?.isOver) await this.keepUse();
  }

  /** The watch of the last condensation that the view shows, where the conversation still begins as it did then. */
  private lastWatch(): UseWatch | undefined {
    const shown = activeCondensations(this.ledger).filter((one) => !isRestoring(one) && !isNewResults(one));
    const last = shown.at(-1);
    const from = last?.messages?.length;
    const first = shown[0]?.messages?.length;
    if (!last || from === undefined || first === undefined || this.ledger.uses.has(last.id)) return undefined;
    if (from > this.messages.length || !last.messages?.every((key, at) => this.isAt(at, key))) return undefined;
    return UseWatch.begin(this.messages, { id: last.id, from, first, edits: this.current.edits });
  }

  /** Ends the watch. */
  private async keepUse(): Promise<void> {
    const { watch } = this;
    this.watch = undefined;
    if (!watch || watch.use.turns === 0) return;
    const { id, use } = watch;
    const entry: LedgerEntry = { type: 'used', condensation: id, use };
    await this.store.append(entry).catch((error: unknown) => {
      // Worth no more than what it tells: the disk's fullness is told elsewhere.
      if (!isStorageError(error)) throw error;
      this.store.keepInMemory(entry, new Map());
    });
    if (!isTooMuchUse(use)) return;
    this.revision++;
    this.parts.emit({ kind: 'careful', conversation: this.id, condensation: id, use });
  }

  /**
   * The first message from here on behind all that the ledger names: these were sent before, also where this host has not seen it, and
   * are as a person wanted them.
   */
  private firstUnnamed(from: number): number {
    const { condensations, pinned } = this.ledger;
    const lastKnown = ({ messages = [] }: Condensation): PlacedMessage[] => {
      const key = messages.at(-1);
      return key === undefined ? [] : [{ message: messages.length - 1, key }];
    };
    const named = [...pinned, ...condensations.flatMap((one) => one.newResults ?? lastKnown(one))];
    const there = named.filter(({ message, key }) => message >= from && this.isAt(message, key));
    return there.reduce((first, { message }) => Math.max(first, message + 1), from);
  }

  private isAt(message: number, key: MessageKey): boolean {
    const there = this.messages[message];
    return there !== undefined && messageKey(there) === key;
  }

  /** @returns false where the conversation went another way since a condensation. */
  private showAnew(): boolean {
    const followed = followEdits(this.ledger, this.messages);
    this.current = followed;
    return followed.isExact;
  }

  /** Puts back what was left out because it stood elsewhere, where that has gone. */
  async restoreReferences(): Promise<void> {
    const { counter, settings } = this.parts;
    if (!this.current.edits.some(({ kind }) => kind === 'cut')) return;
    const draft = new Draft(this.messages, counter, this.current.edits);
    const tokensBefore = draft.tokens;
    if (restoreReferences(draft, ownToolsOf(settings())) === 0) return;
    const edits: readonly Edit[] = draft.edits;
    const sizes = { tokensBefore, tokensAfter: draft.tokens };
    const step = {
      name: RESTORED,
      ...sizes,
      edits: edits.length,
      timeMs: 0,
      cost: 0,
      outcome: { kind: 'done' },
    } as const;
    await this.record({ provider: RESTORING, edits, steps: [step], ...sizes, cost: 0 }, true);
  }
}

const jsonOf = (tools: readonly unknown[]): string => (tools.length > 0 ? JSON.stringify(tools) : '');

/** Reads and counts what a request says beside its messages. */
function readRequest(request: AgentRequest, before: Asked | undefined, { counter, clock }: LiveParts): Asked {
  const { messages, model, system, title, tools, canRecall, extraTokens = 0, isReadOtherwise = false } = request;
  const { loaded, upFront } = readTools(tools, messages);
  const toolsJson = jsonOf(loaded);
  const late = loaded === upFront ? 0 : counter.text(toolsJson) - counter.text(jsonOf(upFront));
  const sentJson = loaded === tools ? toolsJson : jsonOf(tools);
  return {
    messages,
    model,
    system,
    title: title ?? before?.title ?? '',
    canRecall,
    // Declared anew with each request, and alike.
    tools: before?.toolsJson === toolsJson ? before.tools : declaredTools(loaded, counter),
    toolsJson,
    overheadTokens: counter.text(system ?? '') + counter.text(toolsJson) + extraTokens,
    optionalTokens: late + extraTokens,
    overheadBytes: Buffer.byteLength(system ?? '') + Buffer.byteLength(sentJson),
    isReadOtherwise,
    at: clock.now(),
  };
}

/** Whether a condensation only put references right: nobody asked for it, and nobody undoes it. */
export const isRestoring = ({ provider }: Pick<Condensation, 'provider'>): boolean => provider === RESTORING;
