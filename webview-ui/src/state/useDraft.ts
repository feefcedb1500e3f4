/** A text that is being written: checked as it is typed, saved when it is done, never lost while it is wrong. */
import { useEffect, useRef, useState } from 'react';
import type { Setting } from './useSetting';

/** Milliseconds of rest after which what was typed is checked. */
const CHECK_AFTER = 150;

export interface Parsed {
  readonly value?: unknown;
  /** Why the text is no value. */
  readonly problem?: string;
}

export interface Draft {
  readonly text: string;
  readonly problems: readonly string[];
  readonly onInput: (text: string) => void;
  readonly onCommit: (text: string) => void;
}

/**
 * @param shown the saved value as text.
 * @param parse what a text means as a value; an undefined value takes the setting back.
 */
export function useDraft(setting: Setting, shown: string, parse: (text: string) => Parsed): Draft {
  const [draft, setDraft] = useState<string>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const turn = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  /** Values saved here that have not come back as the setting's, and whether more was typed since the last of them. */
  const expected = useRef(0);
  const isNewer = useRef(false);

  // A value saved here or in settings.json takes the draft's place, but not that of what was typed while it was saved.
  useEffect(() => {
    const isOwn = expected.current > 0;
    if (isOwn) expected.current--;
    if (isOwn && isNewer.current) return;
    setDraft(undefined);
    setProblems([]);
  }, [shown]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );

  const isWrong = draft !== undefined && problems.length > 0;
  const hold = useRef(setting.hold);
  hold.current = setting.hold;
  useEffect(() => {
    if (!isWrong) return undefined;
    hold.current(true);
    return () => {
      hold.current(false);
    };
  }, [isWrong]);

  const judge = async (text: string, ask: (value: unknown) => Promise<readonly string[]>): Promise<boolean> => {
    const mine = ++turn.current;
    const { value, problem } = parse(text);
    const found = problem === undefined ? await ask(value) : [problem];
    // Something newer was typed meanwhile: its own verdict comes.
    if (mine !== turn.current) return false;
    setProblems(found);
    return found.length === 0;
  };

  return {
    text: draft ?? shown,
    problems: draft === undefined ? setting.problems : problems,
    onInput: (text) => {
      isNewer.current = true;
      setDraft(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void judge(text, setting.check), CHECK_AFTER);
    },
    onCommit: (text) => {
      clearTimeout(timer.current);
      isNewer.current = false;
      // While a saved value has not come back, what is shown is the one before it.
      if (text === shown && expected.current === 0) {
        setDraft(undefined);
        setProblems([]);
        return;
      }
      expected.current++;
      void judge(text, setting.save).then((saved) => {
        if (!saved) expected.current = 0;
        // The new state has come before this answer, or comes behind it.
        if (saved && !isNewer.current) setDraft(undefined);
      });
    },
  };
}
