import type { Hash } from '../../hash';
import type { ApiMessage } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { ViewContent } from './draftView';
import type { Edit } from '../edits/edits';
import type { ReferenceId } from '../../messages/markers';

/** A view with what is known of it. */
export interface ViewState extends ViewContent {
  readonly tokens: number;
  /** Whether a marker of the view tells the rule about markers. */
  readonly ruleTold: boolean;
}

/** A view that a draft had, and what it was made of. */
export interface KnownView {
  readonly original: readonly ApiMessage[];
  readonly counter: MessageCounter;
  readonly edits: readonly Edit[];
  readonly state: ViewState;
  readonly references: ReadonlyMap<ReferenceId, Hash>;
}

/** The view that the latest draft began with, and the one that it ended with: its edits may not be taken. */
const MAX_VIEWS = 2;

/** By a conversation's first message, the latest first. */
const byConversation = new WeakMap<ApiMessage, readonly KnownView[]>();

/**
 * The view of the first of these edits over the conversation, or over what it has grown from: what is left is to show the
 * other edits. Messages and edits must be the very same objects; to compare them costs nanoseconds each.
 */
export function knownView(
  original: readonly ApiMessage[],
  counter: MessageCounter,
  edits: readonly Edit[],
): KnownView | undefined {
  return viewsOf(original)
    .filter(
      (known) =>
        known.counter === counter &&
        isBeginning(known.original, original) &&
        isBeginning(known.edits, edits) &&
        canShow(known, edits.slice(known.edits.length)),
    )
    .reduce<KnownView | undefined>((a, b) => (a && a.edits.length >= b.edits.length ? a : b), undefined);
}

/** Keeps a view for the next draft. */
export function rememberView(view: KnownView): void {
  const [first] = view.original;
  if (first) byConversation.set(first, [view, ...viewsOf(view.original)].slice(0, MAX_VIEWS));
}

const viewsOf = ([first]: readonly ApiMessage[]): readonly KnownView[] => (first && byConversation.get(first)) ?? [];

/** Blocks go and summaries come in an order of their own, so that only cuts can be added. */
const canShow = ({ state }: KnownView, rest: readonly Edit[]): boolean =>
  rest.length === 0 || (state.summaries.length === 0 && rest.every(({ kind }) => kind === 'cut'));

function isBeginning<T>(short: readonly T[], long: readonly T[]): boolean {
  if (short.length > long.length) return false;
  for (let at = 0; at < short.length; at++) if (short[at] !== long[at]) return false;
  return true;
}
