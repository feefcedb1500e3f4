import { useEffect, useMemo, useState } from 'react';
import type { PreviewedConversationName, MethodParams, PassDrafts, Preview } from '../../../../src/panel/protocol';
import { usePanel } from '../../state/panel';
import { useLatestAnswer, type RequestAnswer } from '../../state/useLatest';
import { usePassDrafts } from '../smart/passDraft';
import type { MessageMarks } from './outcomes';

export interface ShownPreview {
  readonly answer: RequestAnswer<'preview'>;
  /** The last preview, which stays visible while the next is computed. */
  readonly shownPreview: Preview | undefined;
  readonly isWaiting: boolean;
  /** The request that the preview answers. */
  readonly question: MethodParams<'preview'>;
  readonly marks: MessageMarks;
  readonly saveMarks: (marks: MessageMarks) => void;
  /** Undoes the last mark, if any. */
  readonly undoMark: (() => void) | undefined;
  readonly reload: () => void;
  /** Names of the passes with drafts that the preview can try. */
  readonly draftNames: readonly string[];
  /** True if the result is for drafts, not for the saved settings. */
  readonly isOfDrafts: boolean;
  readonly tryDrafts: (isTried: boolean) => void;
}

/** The conversation that the panel previews, kept over a reload. */
export function usePreviewedConversation(): readonly [
  PreviewedConversationName,
  (conversation: PreviewedConversationName) => void,
] {
  const { view, changeView } = usePanel();
  return [
    view.previewed,
    (previewed) => {
      changeView({ previewed });
    },
  ];
}

/** Returns a key that changes only with a setting's value or the previewed conversation. */
export function usePreviewKey(): string {
  const { state, previewRevision } = usePanel();
  const { settings } = state;
  return useMemo(
    () => JSON.stringify([previewRevision, ...Object.values(settings).map(({ value }) => value)]),
    [settings, previewRevision],
  );
}

/** If empty, the marks of the conversation's ledger apply. */
type MarkHistory = readonly MessageMarks[];

export function usePreview(): ShownPreview {
  const [conversation, setPreviewed] = usePreviewedConversation();
  const key = usePreviewKey();
  const name = JSON.stringify(conversation);
  const [history, setHistory] = useState<{ readonly name: string; readonly marks: MarkHistory }>({ name, marks: [] });
  // Marks of another conversation don't apply.
  const ownMarks = history.name === name ? history.marks : NO_MARK_HISTORY;
  const latestMarks = ownMarks.at(-1);
  const drafts = usePassDrafts();
  const [isTried, tryDrafts] = useState(true);
  const isOfDrafts = isTried && drafts.passes.length > 0;
  const draftText = JSON.stringify(drafts);
  const question = useMemo<MethodParams<'preview'>>(
    () => ({
      conversation,
      excluded: [...(latestMarks?.excluded ?? [])],
      ...(latestMarks && { pinned: [...latestMarks.pinned] }),
      ...(isOfDrafts && { drafts: JSON.parse(draftText) as PassDrafts }),
    }),
    [conversation, latestMarks, isOfDrafts, draftText],
  );
  const { answer, lastResult: shownPreview, isWaiting, reload } = useLatestAnswer('preview', question, key);
  const marks = useMemo<MessageMarks>(
    () => latestMarks ?? { pinned: new Set(shownPreview?.savedPins), excluded: new Set() },
    [latestMarks, shownPreview?.savedPins],
  );
  const saveMarks = (marksAfter: MessageMarks): void => {
    if (!shownPreview) return;
    // Marks stay with the shown conversation even if the chat's next request belongs to another
    // one.
    setPreviewed(shownPreview.conversation);
    setHistory({ name: JSON.stringify(shownPreview.conversation), marks: [...ownMarks, marksAfter] });
  };
  const undoLastMark = useMemo(
    () =>
      ownMarks.length === 0
        ? undefined
        : () => {
            setHistory({ name, marks: ownMarks.slice(0, -1) });
          },
    [name, ownMarks],
  );
  const draftNames = drafts.passes.map(({ pass }) => (typeof pass['name'] === 'string' ? pass['name'] : ''));
  return {
    answer,
    shownPreview,
    isWaiting,
    question,
    marks,
    saveMarks,
    undoMark: undoLastMark,
    reload,
    draftNames,
    isOfDrafts,
    tryDrafts,
  };
}

const NO_MARK_HISTORY: MarkHistory = [];

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
