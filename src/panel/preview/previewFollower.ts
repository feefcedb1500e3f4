import type { ConversationSource } from '../../background/preview/messages';
import { computeListUpdate } from '../../background/preview/listUpdate';
import type { PreviewedConversationName } from './methods';

export interface PreviewFollowerDependencies {
  /**
   * Returns the conversation as it is now.
   * @throws Error if it no longer exists
   */
  readonly now: (name: PreviewedConversationName) => ConversationSource;
  readonly onChange: () => void;
}

interface FollowedQuestion {
  readonly name: PreviewedConversationName;
  readonly conversation: ConversationSource;
}

/**
 * Tells the page that the conversation has changed: once per request, and only after its answer, so
 * that rapid changes never discard an answer.
 */
export class PreviewFollower {
  private question: FollowedQuestion | undefined;
  private isAnswered = false;

  constructor(private readonly dependencies: PreviewFollowerDependencies) {}

  /**
   * @param conversation what the name referred to when the page asked
   * @returns a function to call after the question was answered or abandoned
   */
  followConversation(name: PreviewedConversationName, conversation: ConversationSource): () => void {
    const ownQuestion: FollowedQuestion = { name, conversation };
    this.question = ownQuestion;
    this.isAnswered = false;
    return () => {
      // A newer question has replaced this one.
      if (this.question !== ownQuestion) return;
      this.isAnswered = true;
      this.reportIfConversationChanged();
    };
  }

  /** Call this if a chat conversation may have changed. */
  reportIfConversationChanged(): void {
    if (!this.question || !this.isAnswered || this.isSame(this.question)) return;
    this.endFollowing();
    this.dependencies.onChange();
  }

  endFollowing(): void {
    this.question = undefined;
  }

  private isSame({ name, conversation }: FollowedQuestion): boolean {
    try {
      return areSameConversation(conversation, this.dependencies.now(name));
    } catch {
      // The conversation no longer exists, which the page learns with its next request.
      return false;
    }
  }
}

function areSameConversation(a: ConversationSource, b: ConversationSource): boolean {
  if (a.kind === 'file' || b.kind === 'file') return a.kind === 'file' && b.kind === 'file' && a.path === b.path;
  return (
    a.id === b.id &&
    a.title === b.title &&
    hasSameItems(a.pinned, b.pinned) &&
    hasSameItems(a.content?.messages, b.content?.messages) &&
    hasSameItems(a.content?.edits, b.content?.edits)
  );
}

const hasSameItems = (a: readonly unknown[] = [], b: readonly unknown[] = []): boolean =>
  computeListUpdate(a, b) === undefined;
