/** Notices when a previewed conversation is no longer what the page was shown of it: the agent went on, or another one began. */
import type { ConversationSource } from '../../background/preview/messages';
import { computeUpdate } from '../../background/preview/listUpdate';
import type { ConversationName } from './methods';

export interface FollowerParts {
  /** The conversation that a name stands for by now. @throws Error if it is gone */
  readonly now: (name: ConversationName) => ConversationSource;
  /** The page is to ask anew. */
  readonly onChange: () => void;
}

/** The last question. */
interface Asked {
  readonly name: ConversationName;
  readonly conversation: ConversationSource;
}

/**
 * The page is told once for each of its questions, when that has been answered: however fast a conversation changes, no
 * answer is given up for the next one, and a page that nobody looks at is told once.
 */
export class PreviewFollower {
  private asked: Asked | undefined;
  private isAnswered = false;

  constructor(private readonly parts: FollowerParts) {}

  /**
   * @param conversation what the name stood for when it was asked for.
   * @returns call it once the question has been answered or given up.
   */
  follow(name: ConversationName, conversation: ConversationSource): () => void {
    const mine: Asked = { name, conversation };
    this.asked = mine;
    this.isAnswered = false;
    return () => {
      // A newer question has taken its place.
      if (this.asked !== mine) return;
      this.isAnswered = true;
      this.look();
    };
  }

  /** Call it when something may have happened to a conversation of the chat. */
  look(): void {
    if (!this.asked || !this.isAnswered || this.isSame(this.asked)) return;
    this.end();
    this.parts.onChange();
  }

  end(): void {
    this.asked = undefined;
  }

  private isSame({ name, conversation }: Asked): boolean {
    try {
      return isSame(conversation, this.parts.now(name));
    } catch {
      // It is gone: the page is told so when it asks.
      return false;
    }
  }
}

function isSame(a: ConversationSource, b: ConversationSource): boolean {
  if (a.kind === 'file' || b.kind === 'file') return a.kind === 'file' && b.kind === 'file' && a.path === b.path;
  return (
    a.id === b.id &&
    a.title === b.title &&
    holdsSame(a.pinned, b.pinned) &&
    holdsSame(a.content?.messages, b.content?.messages) &&
    holdsSame(a.content?.edits, b.content?.edits)
  );
}

const holdsSame = (a: readonly unknown[] = [], b: readonly unknown[] = []): boolean =>
  computeUpdate(a, b) === undefined;
