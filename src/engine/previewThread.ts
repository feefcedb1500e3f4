/** The first question starts the preview engine; a period without questions ends it. */
import { makeUnchangedListUpdate, computeListUpdate } from '../background/preview/listUpdate';
import type { PreviewAnswer, PreviewRequest, LiveConversationContent } from '../background/preview/messages';
import type { Previews } from './engine';
import { EngineDiedError, EngineThread } from './engineThread';

export interface PreviewThreadOptions {
  readonly bundle: string;
  /** Milliseconds without questions before the engine ends; default one minute. */
  readonly idleMs?: number;
  /** Localized error for questions that remain unanswered. */
  readonly ended: (reason: string) => string;
}

/** Heap of several times the size of the largest file that is previewed. */
const PREVIEW_RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1_024 };

const EMPTY_LIVE_CONTENT: LiveConversationContent = { messages: [], edits: [] };

interface RunningPreviewThread {
  readonly thread: EngineThread;
  readonly previews: Previews;
  /** Content of live conversations as the engine has it, by conversation ID. */
  readonly contents: Map<string, LiveConversationContent>;
}

export class PreviewThread {
  private runningThread: RunningPreviewThread | undefined;
  private questionCount = 0;
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: PreviewThreadOptions) {}

  /**
   * The next question after an error starts a new engine.
   * @throws Error if the engine ended or failed; the signal's reason if aborted
   */
  async askPreviewQuestion<R extends PreviewRequest>(request: R, signal: AbortSignal): Promise<PreviewAnswer<R>> {
    signal.throwIfAborted();
    clearTimeout(this.idleTimer);
    const runningThread = (this.runningThread ??= this.startThread());
    this.questionCount++;
    try {
      return await runningThread.previews.ask(this.replaceContentByUpdate(request, runningThread), signal);
    } catch (error) {
      if (!(error instanceof EngineDiedError)) throw error;
      throw new Error(this.options.ended(error.message), { cause: error });
    } finally {
      this.questionCount--;
      if (this.questionCount === 0) this.endThreadWhenIdle();
    }
  }

  /** True if questions are still to be answered. */
  get isAsked(): boolean {
    return this.questionCount > 0;
  }

  /** Ends the engine; pending questions reject. */
  endThread(): void {
    clearTimeout(this.idleTimer);
    const { runningThread: running } = this;
    this.runningThread = undefined;
    running?.thread.endThread();
  }

  private startThread(): RunningPreviewThread {
    const thread = new EngineThread({
      bundle: this.options.bundle,
      limits: PREVIEW_RESOURCE_LIMITS,
      onDeath: () => {
        // The next engine gets live conversations from the start.
        if (this.runningThread?.thread === thread) this.runningThread = undefined;
      },
    });
    return { thread, previews: thread.engine.previews, contents: new Map() };
  }

  /**
   * Sends the changes of a live conversation's content to the engine, and returns the request
   * without the content.
   */
  private replaceContentByUpdate<R extends PreviewRequest>(
    request: R,
    { contents, previews }: RunningPreviewThread,
  ): R {
    const { conversation } = request;
    if (conversation.kind !== 'live' || !conversation.content) return request;
    const { content, ...conversationWithoutContent } = conversation;
    const sentContent = contents.get(conversationWithoutContent.id) ?? EMPTY_LIVE_CONTENT;
    const messages = computeListUpdate(sentContent.messages, content.messages);
    const edits = computeListUpdate(sentContent.edits, content.edits);
    if (messages || edits) {
      contents.set(conversationWithoutContent.id, content);
      const update = {
        messages: messages ?? makeUnchangedListUpdate(sentContent.messages),
        edits: edits ?? makeUnchangedListUpdate(sentContent.edits),
      };
      // Errors of the update are ignored here, because the question that follows reports them.
      previews.update(conversationWithoutContent.id, update).catch(() => undefined);
    }
    return { ...request, conversation: conversationWithoutContent };
  }

  private endThreadWhenIdle(): void {
    this.idleTimer = setTimeout(() => {
      this.endThread();
    }, this.options.idleMs ?? 60_000);
    this.idleTimer.unref();
  }
}
