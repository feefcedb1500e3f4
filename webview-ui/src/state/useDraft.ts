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
 * Where a text stands between the keyboard and the settings. What is `typing` or `saving` is nobody else's to replace; what is
 * `saved` waits for the settings to show it, and `refused` text stays until it is mended or the settings change.
 */
type Stage = 'none' | 'typing' | 'saving' | 'saved' | 'refused';

/**
 * @param shown the saved value as text.
 * @param parse what a text means as a value; an undefined value takes the setting back.
 */
export function useDraft(setting: Setting, shown: string, parse: (text: string) => Parsed): Draft {
  const [draft, setDraft] = useState<string>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const stage = useRef<Stage>('none');
  /** Grows with all that is typed, checked and saved: answers about something older say nothing any more. */
  const turn = useRef(0);
  /** The text that was saved last, until the settings show a change: they may still show what was there before it. */
  const sent = useRef<string>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ setting, shown });
  latest.current = { setting, shown };

  const drop = (): void => {
    turn.current++;
    stage.current = 'none';
    setDraft(undefined);
    setProblems([]);
  };
  useEffect(() => {
    if (stage.current === 'typing' || stage.current === 'saving') return;
    sent.current = undefined;
    drop();
  }, [shown, setting.isSet]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );

  const isWrong = draft !== undefined && problems.length > 0;
  useEffect(() => {
    if (!isWrong) return undefined;
    latest.current.setting.hold(true);
    return () => {
      latest.current.setting.hold(false);
    };
  }, [isWrong]);

  const check = async (text: string): Promise<void> => {
    const mine = ++turn.current;
    const { value, problem } = parse(text);
    const found = problem === undefined ? await setting.check(value) : [problem];
    if (mine === turn.current) setProblems(found);
  };
  const save = async (text: string): Promise<void> => {
    const mine = ++turn.current;
    const before = sent.current;
    const { value, problem } = parse(text);
    stage.current = 'saving';
    sent.current = text;
    const found = problem === undefined ? await setting.save(value) : [problem];
    if (found.length > 0 && sent.current === text) sent.current = before;
    // Something newer was typed meanwhile: its own verdict comes.
    if (mine !== turn.current) return;
    stage.current = found.length > 0 ? 'refused' : 'saved';
    setProblems(found);
    // The settings' change has come before this answer, or comes behind it, or there is none.
    const now = latest.current;
    const isSame =
      value === undefined ? !now.setting.isSet : JSON.stringify(value) === JSON.stringify(now.setting.value);
    if (found.length === 0 && (now.shown !== shown || isSame)) drop();
  };

  return {
    text: draft ?? shown,
    problems: draft === undefined ? setting.problems : problems,
    onInput: (text) => {
      turn.current++;
      stage.current = 'typing';
      setDraft(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void check(text), CHECK_AFTER);
    },
    onCommit: (text) => {
      clearTimeout(timer.current);
      if (stage.current !== 'typing' && stage.current !== 'refused') return;
      if (text === shown && (sent.current ?? text) === text) drop();
      else void save(text);
    },
  };
}
