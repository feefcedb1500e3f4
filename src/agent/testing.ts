/** What the tests of the edge share: live conversations that change nothing and note what they are asked. */
import type {
  AgentRequest,
  LiveConversationsApi,
  LiveEvent,
  LiveId,
  LiveSummary,
  PreparedRequest,
  RecallQuery,
} from './live/types';

export class PassingLive implements LiveConversationsApi {
  readonly requests: AgentRequest[] = [];
  readonly queries: [LiveId | undefined, RecallQuery][] = [];
  readonly answers: [PreparedRequest, unknown][] = [];
  summaries: LiveSummary[] = [];
  private readonly listeners = new Set<(event: LiveEvent) => void>();

  prepare(request: AgentRequest): Promise<PreparedRequest> {
    this.requests.push(request);
    return Promise.resolve(this.prepared(request));
  }
  tooLong(_prepared: PreparedRequest, _request: AgentRequest): Promise<PreparedRequest | undefined> {
    return Promise.resolve(undefined);
  }
  answered(prepared: PreparedRequest, usage: unknown): void {
    this.answers.push([prepared, usage]);
  }
  expandMarkers(_conversation: LiveId, input: unknown) {
    return Promise.resolve<{ input: unknown } | { error: string }>({ input });
  }
  recall(conversation: LiveId | undefined, query: RecallQuery) {
    this.queries.push([conversation, query]);
    return Promise.resolve({ kind: 'nothing', text: 'Nothing is condensed.' } as const);
  }
  list(): LiveSummary[] {
    return this.summaries;
  }
  active(): LiveSummary | undefined {
    return this.summaries[0];
  }
  view() {
    return undefined;
  }
  condenseNow() {
    return Promise.resolve(undefined);
  }
  undo() {
    return Promise.resolve({ kind: 'nothing', detail: 'There is nothing to undo.' } as const);
  }
  redo() {
    return this.undo();
  }
  toggleEdit() {
    return this.undo();
  }
  pin() {
    return this.undo();
  }
  unpin() {
    return this.undo();
  }
  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  emit(event: LiveEvent): void {
    for (const listener of this.listeners) listener(event);
  }
  dispose(): void {
    this.listeners.clear();
  }

  prepared({ conversationId = 'none', messages }: AgentRequest): PreparedRequest {
    // A test's id of a conversation.
    return {
      conversation: conversationId as LiveId,
      messages,
      cacheMarks: [messages.length - 1],
      tokens: 0,
      countedTokens: 0,
      notes: [],
    };
  }
}
