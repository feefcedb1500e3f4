/** The host's end of the previews' engine: started with the first question, ended when nobody has asked for a while. */
import { unchanged, computeUpdate } from '../background/forecast/listUpdate';
import type { ForecastAnswer, ForecastRequest, LiveContent } from '../background/forecast/messages';
import type { Previews } from './engine';
import { EngineDiedError, EngineThread } from './engineThread';

export interface ForecastThreadOptions {
  /** Path of the engine's bundle. */
  readonly bundle: string;
  /** Milliseconds without a question after which it ends; default a minute. */
  readonly idleMs?: number;
  /** Why an answer never came, in the user's language. */
  readonly ended: (reason: string) => string;
}

/** Room for the largest file that is previewed, several times over. */
const LIMITS = { maxOldGenerationSizeMb: 1_024 };

const NO_CONTENT: LiveContent = { messages: [], edits: [] };

interface RunningTask {
  readonly thread: EngineThread;
  readonly previews: Previews;
  /** Contents of live conversations that the engine has, by id. */
  readonly contents: Map<string, LiveContent>;
}

export class ForecastThread {
  private running: RunningTask | undefined;
  private asked = 0;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: ForecastThreadOptions) {}

  /**
   * @throws Error with what the engine said, or that it ended; the signal's reason where it was aborted. The next question
   * starts a new engine.
   */
  async ask<R extends ForecastRequest>(request: R, signal: AbortSignal): Promise<ForecastAnswer<R>> {
    signal.throwIfAborted();
    clearTimeout(this.idle);
    const running = (this.running ??= this.start());
    this.asked++;
    try {
      return await running.previews.ask(this.withoutContent(request, running), signal);
    } catch (error) {
      if (!(error instanceof EngineDiedError)) throw error;
      throw new Error(this.options.ended(error.message), { cause: error });
    } finally {
      this.asked--;
      if (this.asked === 0) this.endLater();
    }
  }

  /** Whether it has something to answer. */
  get isAsked(): boolean {
    return this.asked > 0;
  }

  /** Ends the engine; what was asked fails. */
  end(): void {
    clearTimeout(this.idle);
    const { running } = this;
    this.running = undefined;
    running?.thread.end();
  }

  private start(): RunningTask {
    const thread = new EngineThread({
      bundle: this.options.bundle,
      limits: LIMITS,
      onDeath: () => {
        // The next one is told of live conversations from their beginning.
        if (this.running?.thread === thread) this.running = undefined;
      },
    });
    return { thread, previews: thread.engine.previews, contents: new Map() };
  }

  /** The request without the content of a live conversation, once the engine has been told what is new of it. */
  private withoutContent<R extends ForecastRequest>(request: R, { contents, previews }: RunningTask): R {
    const { conversation } = request;
    if (conversation.kind !== 'live' || !conversation.content) return request;
    const { content, ...rest } = conversation;
    const known = contents.get(rest.id) ?? NO_CONTENT;
    const messages = computeUpdate(known.messages, content.messages);
    const edits = computeUpdate(known.edits, content.edits);
    if (messages || edits) {
      contents.set(rest.id, content);
      const update = { messages: messages ?? unchanged(known.messages), edits: edits ?? unchanged(known.edits) };
      // Why an engine can't take it in is told by the question that follows.
      previews.update(rest.id, update).catch(() => undefined);
    }
    return { ...request, conversation: rest };
  }

  private endLater(): void {
    this.idle = setTimeout(() => {
      this.end();
    }, this.options.idleMs ?? 60_000);
    this.idle.unref();
  }
}
