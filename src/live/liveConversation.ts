import { randomUUID } from 'node:crypto';
import { Draft } from '../core/condense/draft/draft';
import type { OutcomeBase } from '../core/condense/condensation';
import { ON_ARRIVAL } from '../core/condense/types';
import { lastByPlace, type CutEdit, type Edit } from '../core/condense/edits/edits';
import {
  activeCondensations,
  isOnArrival,
  viewHash,
  type ArrivedEntry,
  type Condensation,
  type CondensationId,
  type Ledger,
  type LedgerEntry,
  type PlacedMessage,
} from '../core/condense/ledger/ledger';
import { condenseArrivals, type ArrivalRules } from '../core/condense/lossless/arrivals';
import { restoreReferences, RESTORED } from '../core/condense/lossless/integrity';
import { newViolations } from '../core/messages/firewall';
import { contentsOf } from '../core/messages/content';
import { messageKey, type MessageKey } from '../core/messages/messageKey';
import type { ApiMessage } from '../core/messages/types';
import { orAborted } from '../core/orAborted';
import { isStorageError, originalsOf } from '../storage/ledgerStore';
import { followEdits, grown, keysOf, show, unedited, withCuts, type Shown } from './followEdits';
import type { LiveLedger } from './liveLedger';
import { ownToolsOf } from './ownTools';
import type { LiveParts } from './types';
import type { Preparation, Standing } from './preparation';
import { commonPrefix } from './align';
import type { AgentRequest, LiveId, UpstreamModel } from './request';
import type { AnsweredLast } from './cacheState';
import type { LiveDecision } from './events';
import { UseWatch } from './useWatch';
import type { Weighed } from './weight';
import { CallCounts, declaredTools, type DeclaredTool } from './toolWeights';
import { readTools } from './deferredTools';
import { optionalTokens } from './vendorReads';
import { isTooMuchUse, type UseAfter } from '../core/condense/report/use';

/** The part of a condensation that is kept. */
export type Made = Pick<Condensation, 'provider' | 'edits' | 'steps' | 'tokensBefore' | 'tokensAfter' | 'cost'> &
  Pick<OutcomeBase, 'configNames'> & { readonly alsoBy?: readonly string[] };

/** What is left out of new results. */
interface LeftOut {
  readonly edits: readonly CutEdit[];
  /** The messages that read lines again for which a marker stood. */
  readonly rereads: readonly number[];
  readonly shown: Shown;
  /** O200k tokens. */
  readonly saved: number;
}

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

/** A conversation that an agent goes on with: its messages as last sent, its ledger, and the view that follows of both. */
export class LiveConversation {
  readonly id: LiveId;
  /** Key of the task as it was last sent. */
  task: MessageKey;
  /** Aborts where the agent gives its last request up. */
  signal: AbortSignal | undefined;
  title = '';
  system: string | undefined;
  lastUsed = 0;
  /** The last answered request, by the model's key. */
  readonly answered = new Map<string, AnsweredLast>();
  /** Messages of the view that the model last answered. */
  lastSent = 0;
  /** US dollars; undefined once an answer's cost was not known. */
  spent: number | undefined = 0;
  lastDecision: LiveDecision | undefined;
  /** Why the last condensation that was due took nothing out. */
  whyNot: string | undefined;
  /** How many requests in a row were due. */
  condensedInRow = 0;
  /** That condensing leaves it above its threshold was told, in these words. */
  exhausted: string | undefined;
  /** That its window is too small was told. */
  isCramped = false;
  preparation: Preparation | undefined;
  /** O200k tokens below which no model is asked again after one failed. */
  waitFor = 0;
  /** Whether the agent has a tool that recalls what was taken out; undefined where it is not known to. */
  canRecall: boolean | undefined;
  /** Counts what was done to the view: what was prepared for the view before doesn't fit any more. */
  private revision = 0;
  private sent: readonly ApiMessage[] = [];
  private current: Shown = unedited([]);
  private upstream: UpstreamModel | undefined;
  /** Its calls, by tool. */
  readonly calls = new CallCounts();

  private declared: { readonly json: string; readonly tools: readonly DeclaredTool[] } = { json: '', tools: [] };
  private beside = 0;
  /** O200k tokens of what is counted beside the messages and may stay unread. */
  private besideOptional = 0;
  private isReadOtherwise = false;
  private besideBytes = 0;
  private isNew = true;
  private watch: UseWatch | undefined;
  /** Index of the first message that was not sent before. */
  private firstNew = 0;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    readonly about: LiveAbout,
    private readonly store: LiveLedger,
    private readonly parts: LiveParts,
  ) {
    this.id = about.id;
    this.task = about.task;
  }

  /** The conversation as the agent last sent it. */
  get messages(): readonly ApiMessage[] {
    return this.sent;
  }

  get shown(): Shown {
    return this.current;
  }

  /** @throws Error before the first request. */
  get model(): UpstreamModel {
    if (!this.upstream) throw new Error('The conversation has had no request yet.');
    return this.upstream;
  }

  /** Whether it has had a request. */
  get hasBegun(): boolean {
    return this.upstream !== undefined;
  }

  get ledger(): Ledger {
    return this.store.ledger;
  }

  /** O200k tokens of the system prompt, and of the tools that the model has. */
  get overheadTokens(): number {
    return this.beside;
  }

  /** O200k tokens of all that would be sent. */
  get countedTokens(): number {
    return this.countedWith(this.current);
  }

  private countedWith({ messages }: Shown): number {
    return this.beside + this.parts.counter.messages(messages);
  }

  /** O200k tokens of those that would be sent that the vendor has to read; undefined where what it reports says nothing of the request. */
  get mustRead(): number | undefined {
    if (this.isReadOtherwise) return undefined;
    return this.countedTokens - this.besideOptional - optionalTokens(this.current.messages, this.parts.counter);
  }

  /** The tools of the last request, as far as the model has them. */
  get tools(): readonly DeclaredTool[] {
    return this.declared.tools;
  }

  /** The request as it would be sent, for its bytes. */
  get weighed(): Weighed {
    const { sent: original, besideBytes, pinned } = this;
    return { original, view: this.current.messages, besideBytes, pinned };
  }

  /** The conversation as it now stands, for what is prepared from it. */
  get standing(): Standing {
    return { revision: this.revision, original: this.sent, view: this.current.messages };
  }

  /**
   * Whether the conversation goes on from what it was. An agent that asks something beside the task and then goes on with it leaves what
   * was prepared as it is.
   */
  stillStands({ revision, original, view }: Standing): boolean {
    return (
      revision === this.revision &&
      commonPrefix(original, this.sent) === original.length &&
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
      const index = this.isAt(message, key) ? message : this.sent.findIndex((other) => messageKey(other) === key);
      if (index >= 0) indexes.add(index);
    }
    return indexes;
  }

  /**
   * One thing after the other.
   * @throws the signal's reason where it aborts before the action's turn; then it is not begun.
   */
  async exclusive<T>(action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = orAborted(this.queue, signal);
    const result = this.queue.then(() => turn).then(action);
    this.queue = result.catch(() => undefined);
    await turn;
    return result;
  }

  /** Takes in a request: what the conversation says now, and what the model is to see of it. */
  async follow(request: AgentRequest): Promise<void> {
    const { counter, clock } = this.parts;
    const known = commonPrefix(this.sent, request.messages);
    const hasGrown = !this.isNew && known === this.sent.length;
    const added = request.messages.slice(known);
    this.sent = [...this.sent.slice(0, known), ...added];
    // All before the model's last answer was sent for it, also by another process or in other words.
    const answered = this.sent.findLastIndex(({ role }) => role === 'assistant') + 1;
    this.firstNew = Math.max(answered, this.isNew ? 0 : known, this.firstUnnamed(answered));
    this.isNew = false;
    this.upstream = request.model;
    this.system = request.system;
    this.canRecall = request.canRecall;
    this.title = request.title ?? this.title;
    this.lastUsed = clock.now();
    const { loaded, upFront } = readTools(request.tools, this.sent);
    const json = jsonOf(loaded);
    // Declared anew with each request, and alike.
    if (json !== this.declared.json) this.declared = { json, tools: declaredTools(loaded, counter) };
    this.calls.follow(this.sent);
    const { system = '', tools, extraTokens = 0 } = request;
    this.beside = counter.text(system) + counter.text(json) + extraTokens;
    const late = loaded === upFront ? 0 : counter.text(json) - counter.text(jsonOf(upFront));
    this.besideOptional = late + extraTokens;
    this.isReadOtherwise = request.isReadOtherwise === true;
    this.besideBytes = Buffer.byteLength(system) + Buffer.byteLength(loaded === tools ? json : jsonOf(tools));
    if (hasGrown) this.current = grown(this.current, added, known);
    else if (!this.showAnew()) await this.restoreReferences();
    await this.watchUse(hasGrown);
    for (const message of this.current.messages) {
      counter.message(message);
    }
  }

  /**
   * Condenses the newest results before they are sent for the first time; what was sent stays. Originals and entry are written
   * meanwhile ({@link settled}).
   * @param further rules for what the first ones leave of a request, where it has too many o200k tokens even so.
   */
  condenseArrivals(
    rules: ArrivalRules,
    further?: { readonly rules: ArrivalRules; readonly isNeeded: (countedTokens: number) => boolean },
  ): void {
    const { sent, firstNew, current } = this;
    const { counter, clock, emit } = this.parts;
    if (!sent.slice(firstNew).some(hasLongResult) || this.arrivalsUndone) return;
    let made = this.arrivalsWith(rules, current);
    // Both runs are one entry: what was read again, and the tokens of what changed, count once.
    const { rereads } = made;
    if (further?.isNeeded(this.countedWith(made.shown))) {
      const more = this.arrivalsWith(further.rules, made.shown);
      const edits = lastByPlace([...made.edits, ...more.edits]).filter((edit) => edit.kind === 'cut');
      made = { ...more, edits, saved: made.saved + more.saved };
    }
    const { edits, shown, saved } = made;
    if (edits.length === 0 && rereads.length === 0) return;
    const changed = new Set(edits.map(({ place }) => place.message));
    const changedTokens = counter.messages([...changed].map((message) => sent[message] as ApiMessage));
    const named = [...new Set([...changed, ...rereads])];
    const entry: ArrivedEntry = {
      type: 'arrived',
      condensation: this.arrivalsId,
      at: new Date(clock.now()).toISOString(),
      arrivals: named.map((message) => ({ message, key: messageKey(sent[message] as ApiMessage) })),
      edits,
      ...(rereads.length > 0 && { rereads: rereads.length }),
      tokensBefore: changedTokens,
      tokensAfter: changedTokens - saved,
    };
    // The request does not wait for the disk: the agent has the results whole, so that all a crash costs is a cache.
    this.store.appendSoon(entry, originalsOf(sent, edits), ({ message }) => {
      emit({ kind: 'problem', conversation: this.id, message });
    });
    this.current = shown;
  }

  /** What the rules leave out of the newest results; nothing where the view would break a rule of the APIs. */
  private arrivalsWith(rules: ArrivalRules, current: Shown): LeftOut {
    const { sent, firstNew } = this;
    const draft = new Draft(sent, this.parts.counter, current.edits, firstNew);
    const tokensBefore = draft.tokens;
    const { edits, rereads } = condenseArrivals(draft, rules);
    const shown = withCuts(current, edits, sent);
    // The rules that span messages look at the task and go back to the answer before.
    const from = Math.max(draft.task + 1, firstNew - 1);
    const task = sent.slice(0, draft.task + 1);
    const tail = shown.messages.slice(shown.origins.lastIndexOf(from));
    const isValid = newViolations([...task, ...sent.slice(from)], [...task, ...tail]).length === 0;
    return isValid
      ? { edits, rereads, shown, saved: tokensBefore - draft.tokens }
      : { edits: [], rereads: [], shown: current, saved: 0 };
  }

  /** Resolves once what was left out is on the disk, or is known not to get there. */
  settled(): Promise<void> {
    return this.store.settled();
  }

  /** The id of the one condensation that all arrivals of the conversation are. */
  private get arrivalsId(): CondensationId {
    return `${ON_ARRIVAL}-${this.id}` as CondensationId;
  }

  private get arrivalsUndone(): boolean {
    return this.ledger.undone.has(this.arrivalsId);
  }

  /**
   * Keeps a condensation and shows it. Once it returns, originals and entry are on the disk.
   * @param mustFit the request can't go out without it: where the disk is full it is kept in memory.
   * @returns undefined where its view isn't valid or could not be kept; then nothing has changed.
   */
  async record(made: Made, mustFit: boolean): Promise<CondensationId | undefined> {
    const { clock, emit } = this.parts;
    const shown = show(this.sent, lastByPlace([...this.current.edits, ...made.edits]));
    // The conversation may have grown since it was made.
    if (newViolations(this.sent, shown.messages, { origins: shown.origins }).length > 0) return undefined;
    const id = randomUUID() as string as CondensationId;
    const { provider, alsoBy, configNames = {}, edits, steps, tokensBefore, tokensAfter, cost } = made;
    const factor = this.parts.learning.factor(this.model);
    const condensation: Condensation = {
      provider,
      configName: configNames[provider],
      ...(alsoBy && { before: alsoBy.map((id) => ({ provider: id, configName: configNames[id] })) }),
      request: {
        tokensBefore: Math.ceil(this.countedTokens * factor),
        tokensAfter: Math.ceil(this.countedWith(shown) * factor),
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
      messages: keysOf(this.sent),
    };
    const entry: LedgerEntry = { type: 'condensed', condensation };
    const originals = originalsOf(this.sent, edits);
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
    this.watch?.follow(this.sent);
    if (this.watch?.isOver) await this.keepUse();
  }

  /** The watch of the last condensation that the view shows, where the conversation still begins as it did then. */
  private lastWatch(): UseWatch | undefined {
    const shown = activeCondensations(this.ledger).filter((one) => !isRestoring(one) && !isOnArrival(one));
    const last = shown.at(-1);
    const from = last?.messages?.length;
    const first = shown[0]?.messages?.length;
    if (!last || from === undefined || first === undefined || this.ledger.uses.has(last.id)) return undefined;
    if (from > this.sent.length || !last.messages?.every((key, at) => this.isAt(at, key))) return undefined;
    return UseWatch.begin(this.sent, { id: last.id, from, first, edits: this.current.edits });
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
    const named = [...pinned, ...condensations.flatMap((one) => one.arrivals ?? lastKnown(one))];
    const there = named.filter(({ message, key }) => message >= from && this.isAt(message, key));
    return there.reduce((first, { message }) => Math.max(first, message + 1), from);
  }

  private isAt(message: number, key: MessageKey): boolean {
    const there = this.sent[message];
    return there !== undefined && messageKey(there) === key;
  }

  /** @returns false where the conversation went another way since a condensation. */
  private showAnew(): boolean {
    const followed = followEdits(this.ledger, this.sent);
    this.current = followed;
    return followed.isExact;
  }

  /** Puts back what was left out because it stood elsewhere, where that has gone. */
  async restoreReferences(): Promise<void> {
    const { counter, settings } = this.parts;
    if (!this.current.edits.some(({ kind }) => kind === 'cut')) return;
    const draft = new Draft(this.sent, counter, this.current.edits);
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

/** UTF-16 units of the shortest result that is worth a look. */
const MIN_RESULT = 200;

const hasLongResult = (message: ApiMessage): boolean =>
  contentsOf(message).some(({ type, text }) => type === 'toolResults' && text.length >= MIN_RESULT);

/** Whether a condensation only put references right: nobody asked for it, and nobody undoes it. */
export const isRestoring = ({ provider }: Pick<Condensation, 'provider'>): boolean => provider === RESTORING;
