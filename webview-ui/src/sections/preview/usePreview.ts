/** Requests a conversation's preview whenever settings, marks or the conversation change. */
import { useEffect, useMemo, useState } from 'react';
import type { ConversationName, Params, PassDrafts, Preview } from '../../../../src/panel/protocol';
import { usePanel } from '../../state/panel';
import { useLatest, type RequestAnswer } from '../../state/useLatest';
import { usePassDrafts } from '../smart/passDraft';
import type { MessageMarks } from './outcomes';

export interface ShownPreview {
  readonly answer: RequestAnswer<'preview'>;
  /** The last preview shown; it stays while another one is worked out. */
  readonly shown: Preview | undefined;
  readonly isWaiting: boolean;
  /** The request to which the preview answers. */
  readonly question: Params<'preview'>;
  readonly marks: MessageMarks;
  readonly mark: (marks: MessageMarks) => void;
  /** Undoes the last mark; undefined if there is none. */
  readonly unmark: (() => void) | undefined;
  readonly again: () => void;
  /** Names of the passes whose drafts can be tried. */
  readonly drafted: readonly string[];
  /** True if the result is for drafts, not for the saved settings. */
  readonly isOfDrafts: boolean;
  readonly tryDrafts: (isTried: boolean) => void;
}

/** The conversation that the panel shows things of; kept over a reload. */
export function usePreviewed(): readonly [ConversationName, (conversation: ConversationName) => void] {
  const { view, changeView } = usePanel();
  return [
    view.previewed,
    (previewed) => {
      changeView({ previewed });
    },
  ];
}

/** Changes with every setting's value and with the previewed conversation, and with nothing else. */
export function usePreviewKey(): string {
  const { state, previewRevision } = usePanel();
  const { settings } = state;
  return useMemo(
    () => JSON.stringify([previewRevision, ...Object.values(settings).map(({ value }) => value)]),
    [settings, previewRevision],
  );
}

/** Undefined: the marks of the conversation's ledger. */
type MarkHistory = readonly MessageMarks[];

export function usePreview(): ShownPreview {
  const [conversation, setPreviewed] = usePreviewed();
  const key = usePreviewKey();
  const name = JSON.stringify(conversation);
  const [history, setHistory] = useState<{ readonly name: string; readonly marks: MarkHistory }>({ name, marks: [] });
  // Marks are of one conversation.
  const made = history.name === name ? history.marks : NO_MARKS;
  const latest = made.at(-1);
  const drafts = usePassDrafts();
  const [isTried, tryDrafts] = useState(true);
  const isOfDrafts = isTried && drafts.passes.length > 0;
  const draftText = JSON.stringify(drafts);
  const question = useMemo<Params<'preview'>>(
    () => ({
      conversation,
      excluded: [...(latest?.excluded ?? [])],
      ...(latest && { pinned: [...latest.pinned] }),
      ...(isOfDrafts && { drafts: JSON.parse(draftText) as PassDrafts }),
    }),
    [conversation, latest, isOfDrafts, draftText],
  );
  const { answer, shown, isWaiting, again } = useLatest('preview', question, key);
  const marks = useMemo<MessageMarks>(
    () => latest ?? { pinned: new Set(shown?.savedPins), excluded: new Set() },
    [latest, shown?.savedPins],
  );
  const mark = (after: MessageMarks): void => {
    if (!shown) return;
    // Marks stay with the conversation that is shown, whichever conversation of the chat is used next.
    setPreviewed(shown.conversation);
    setHistory({ name: JSON.stringify(shown.conversation), marks: [...made, after] });
  };
  const unmark = useMemo(
    () =>
      made.length === 0
        ? undefined
        : () => {
            setHistory({ name, marks: made.slice(0, -1) });
          },
    [name, made],
  );
  const drafted = drafts.passes.map(({ pass }) => (typeof pass['name'] === 'string' ? pass['name'] : ''));
  return { answer, shown, isWaiting, question, marks, mark, unmark, again, drafted, isOfDrafts, tryDrafts };
}

const NO_MARKS: MarkHistory = [];

/** Ends the worker once no component uses the preview. */
export function useEndPreviewOnUnmount(): void {
  const { connection } = usePanel();
  useEffect(
    () => () => {
      connection.sendRequest('endPreview', {}).catch(() => undefined);
    },
    [connection],
  );
}
