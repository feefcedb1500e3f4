/** A draft has the user's unapplied edits of a pass. The preview can try it. */
import { useEffect, useRef, useState } from 'react';
import { listEntryNames, SettingPathError, replaceSettingValueAt } from '../../../../src/core/settingValue';
import type { PassDrafts } from '../../../../src/panel/protocol';
import { trackValidation, type EditedEntry } from '../../state/editedEntry';
import { usePanel, type Panel } from '../../state/panel';
import { getValueAt } from '../../state/path';
import { useSetting } from '../../state/useSetting';
import { isPlainObject, readPassEntries, type PassEntry } from './smartValue';
import { isEqual } from '../../../../src/core/isEqual';

type Fields = Readonly<Record<string, unknown>>;

export interface PassDraft {
  /** The pass with the draft's edits. */
  readonly entry: PassEntry;
  readonly edited: EditedEntry;
  readonly isChanged: boolean;
  /** Why the draft can't be applied now. */
  readonly obstacle: 'field' | 'conflict' | undefined;
  /** Increases if the editor's fields must be recreated. */
  readonly round: number;
  /**
   * Resolves once all input has been checked.
   * @returns undefined if a value is invalid or nothing has changed
   */
  readonly waitUntilSettled: () => Promise<Fields | undefined>;
  readonly discard: () => void;
}

const SMART_SETTING = 'smart';
const makeDraftKey = (scope: string, entry: PassEntry): string => `${scope} ${entry.key}`;

type KeptPassDraft = Panel['view']['drafts'][string];

/** Applies the draft's edits to the current pass, whose other fields may have changed. */
function rebaseDraft(
  raw: Fields,
  { before, after }: KeptPassDraft,
): { readonly value: Fields; readonly isConflict: boolean } {
  const fields = [...new Set([...Object.keys(raw), ...Object.keys(after)])];
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !isEqual(before[field], after[field]),
  );
  const value = Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      const from = changed.includes(field) ? after : raw;
      return from[field] === undefined ? [] : [[field, from[field]]];
    }),
  );
  const isConflict = changed.some((field) => !isEqual(before[field], raw[field]) && !isEqual(after[field], raw[field]));
  return { value, isConflict };
}

/** Returns the drafts of the shown scope, for the preview. */
export function usePassDrafts(): PassDrafts {
  const { view, state } = usePanel();
  const { scope } = useSetting(SMART_SETTING);
  const config = state.settings[SMART_SETTING]?.[scope];
  const passes = isPlainObject(config) && Array.isArray(config['passes']) ? (config['passes'] as unknown[]) : [];
  const names = listEntryNames(passes);
  return {
    name: SMART_SETTING,
    scope,
    passes: readPassEntries({ passes }).flatMap((entry) => {
      const draft = view.drafts[makeDraftKey(scope, entry)];
      const name = names[entry.index];
      if (!draft || !name) return [];
      const { value } = rebaseDraft(entry.raw, draft);
      return isEqual(value, entry.raw) ? [] : [{ entry: name, pass: value }];
    }),
  };
}

/**
 * Call the returned function before other passes replace those with drafts: the new ones may have
 * the same IDs.
 */
export function useDropPassDrafts(): () => void {
  const { changeView } = usePanel();
  const { scope } = useSetting(SMART_SETTING);
  return () => {
    changeView(({ drafts }) => ({
      drafts: Object.fromEntries(Object.entries(drafts).filter(([key]) => !key.startsWith(`${scope} `))),
    }));
  };
}

export function usePassDraft(saved: PassEntry): PassDraft {
  const { connection, view, changeView, state } = usePanel();
  const { scope } = useSetting(SMART_SETTING);
  const key = makeDraftKey(scope, saved);
  const path = ['passes', saved.index];
  const draft = view.drafts[key];
  const { value, isConflict } = draft ? rebaseDraft(saved.raw, draft) : { value: saved.raw, isConflict: false };
  const isChanged = draft !== undefined && !isEqual(value, saved.raw);
  const [judged, setJudged] = useState<{ readonly text: string; readonly effective: unknown }>();
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set());
  const [round, setRound] = useState(0);
  // Each change applies to the result of the previous one and is checked before the next.
  const latest = useRef<Fields>(value);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const text = JSON.stringify(value);
  useEffect(() => {
    latest.current = JSON.parse(text) as Fields;
  }, [text]);

  const checkPass = (newValue: unknown) =>
    connection.sendRequest('checkSetting', { name: SMART_SETTING, scope, path, value: newValue });
  useEffect(() => {
    if (!isChanged || judged?.text === text) return;
    // The page was reloaded since this draft began, so its effective value is unknown.
    checkPass(value).then(
      ({ effective }) => {
        setJudged({ text, effective });
      },
      () => undefined,
    );
  }, [isChanged, text]);

  const changePass = async (pathInside: readonly (string | number)[], newValue: unknown, isTrial: boolean) => {
    let newPass: unknown;
    try {
      newPass = replaceSettingValueAt(latest.current, pathInside, newValue);
    } catch (error) {
      if (error instanceof SettingPathError) return [{ path: '', message: error.message }];
      throw error;
    }
    const { problems, effective } = await checkPass(newPass);
    if (problems.length > 0 || isTrial || !isPlainObject(newPass)) return problems;
    latest.current = newPass;
    const kept = { before: draft?.before ?? saved.raw, after: newPass };
    if (effective !== undefined) setJudged({ text: JSON.stringify(newPass), effective });
    changeView(({ drafts }) => ({ drafts: { ...drafts, [key]: kept } }));
    return problems;
  };
  const dropDraft = (): void => {
    changeView(({ drafts }) => ({
      drafts: Object.fromEntries(Object.entries(drafts).filter(([other]) => other !== key)),
    }));
  };
  return {
    entry: { ...(readPassEntries({ passes: [value] })[0] ?? saved), index: saved.index, key: saved.key },
    edited: {
      name: SMART_SETTING,
      path,
      value,
      effective: isChanged ? judged?.effective : getValueAt(state.settings[SMART_SETTING]?.effective, path),
      isChanged,
      change: (pathInside, newValue, isTrial) => {
        const changed = queue.current.then(() => changePass(pathInside, newValue, isTrial));
        queue.current = changed.catch(() => undefined);
        trackValidation(changed);
        return changed;
      },
      hold: (id, isWrong) => {
        setWrong((before) =>
          isWrong ? new Set([...before, id]) : new Set([...before].filter((other) => other !== id)),
        );
      },
    },
    isChanged,
    obstacle: wrong.size > 0 ? 'field' : isChanged && isConflict ? 'conflict' : undefined,
    round,
    waitUntilSettled: async () => {
      await queue.current;
      return wrong.size > 0 || isEqual(latest.current, saved.raw) ? undefined : latest.current;
    },
    discard: () => {
      dropDraft();
      latest.current = saved.raw;
      setRound(round + 1);
    },
  };
}
