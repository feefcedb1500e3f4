/** Invalid text is never lost. */
import { useEffect, useRef, useState } from 'react';
import type { SettingHandle } from './useSetting';
import { isEqual } from '../../../src/core/isEqual';

/** Milliseconds without typing after which the text is checked. */
const VALIDATION_DELAY_MS = 150;

export interface ParsedText {
  readonly value?: unknown;
  /** Why the text is not a valid value. */
  readonly problem?: string;
}

export interface FieldDraft {
  readonly text: string;
  readonly problems: readonly string[];
  readonly onInput: (text: string) => void;
  readonly onCommit: (text: string) => void;
}

/**
 * `typing` and `saving` text must not be replaced. `saved`: the settings don't show the text yet.
 * `refused` text stays until it is corrected or the settings change.
 */
type DraftStage = 'none' | 'typing' | 'saving' | 'saved' | 'refused';

/**
 * @param savedText the saved value as text
 * @param parse converts the text to a value; an undefined value resets the setting
 */
export function useFieldDraft(
  setting: SettingHandle,
  savedText: string,
  parse: (text: string) => ParsedText,
): FieldDraft {
  const [draft, setDraft] = useState<string>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const stage = useRef<DraftStage>('none');
  /** Increases with each input, check and save, so that older answers are ignored. */
  const latestTurn = useRef(0);
  /** The settings may still show the value from before these saved texts. */
  const sentTexts = useRef<readonly string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latestProps = useRef({ setting, shown: savedText });
  latestProps.current = { setting, shown: savedText };

  /** True if the settings contain this value now. An undefined value means that none is set. */
  const isValueOfSetting = (value: unknown): boolean => {
    const latestSetting = latestProps.current.setting;
    return value === undefined ? !latestSetting.isSet : isEqual(value, latestSetting.value);
  };
  const dropDraft = (): void => {
    latestTurn.current++;
    stage.current = 'none';
    setDraft(undefined);
    setProblems([]);
  };
  useEffect(() => {
    if (stage.current === 'typing' || stage.current === 'saving') return;
    const sentTextIndex = sentTexts.current.findIndex((text) => isValueOfSetting(parse(text).value));
    if (stage.current === 'refused' && sentTextIndex >= 0) {
      // An earlier saved text has arrived, which must not replace the refused text.
      sentTexts.current = sentTexts.current.slice(sentTextIndex + 1);
      return;
    }
    sentTexts.current = [];
    dropDraft();
  }, [savedText, setting.isSet]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );

  const isWrong = draft !== undefined && problems.length > 0;
  useEffect(() => {
    if (!isWrong) return undefined;
    latestProps.current.setting.hold(true);
    return () => {
      latestProps.current.setting.hold(false);
    };
  }, [isWrong]);

  const checkText = async (text: string): Promise<void> => {
    const ownTurn = ++latestTurn.current;
    const { value, problem } = parse(text);
    const foundProblems = problem === undefined ? await setting.check(value) : [problem];
    if (ownTurn === latestTurn.current) setProblems(foundProblems);
  };
  const saveText = async (text: string): Promise<void> => {
    const ownTurn = ++latestTurn.current;
    const { value, problem } = parse(text);
    stage.current = 'saving';
    if (problem === undefined) sentTexts.current = [...sentTexts.current, text];
    const newProblems = problem === undefined ? await setting.save(value) : [problem];
    const last = sentTexts.current.lastIndexOf(text);
    if (newProblems.length > 0 && last >= 0) sentTexts.current = sentTexts.current.filter((_, at) => at !== last);
    // The user has typed since; the newer text gets its own check.
    if (ownTurn !== latestTurn.current) return;
    stage.current = newProblems.length > 0 ? 'refused' : 'saved';
    setProblems(newProblems);
    // The settings' change may arrive before or after this answer, or not at all.
    if (newProblems.length === 0 && (latestProps.current.shown !== savedText || isValueOfSetting(value))) dropDraft();
  };

  return {
    text: draft ?? savedText,
    problems: draft === undefined ? setting.problems : problems,
    onInput: (text) => {
      latestTurn.current++;
      stage.current = 'typing';
      setDraft(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void checkText(text), VALIDATION_DELAY_MS);
    },
    onCommit: (text) => {
      clearTimeout(timer.current);
      if (stage.current !== 'typing' && stage.current !== 'refused') return;
      if (text === savedText && (sentTexts.current.at(-1) ?? text) === text) dropDraft();
      else void saveText(text);
    },
  };
}
