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
  rawPass: Fields,
  { before, after }: KeptPassDraft,
): { readonly value: Fields; readonly isConflict: boolean } {
  const fields = [...new Set([...Object.keys(rawPass), ...Object.keys(after)])];
  const changedFields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !isEqual(before[field], after[field]),
  );
  const value = Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      const from = changedFields.includes(field) ? after : rawPass;
      return from[field] === undefined ? [] : [[field, from[field]]];
    }),
  );
  const isConflict = changedFields.some(
    (field) => !isEqual(before[field], rawPass[field]) && !isEqual(after[field], rawPass[field]),
  );
  return { value, isConflict };
}

/** Returns the drafts of the shown scope, for the preview. */
export function usePassDrafts(): PassDrafts {
  const { view, state } = usePanel();
  const { scope } = useSetting(SMART_SETTING);
  const config = state.settings[SMART_SETTING]?.[scope];
  const passes = isPlainObject(config) && Array.isArray(config['passes']) ? (config['passes'] as unknown[]) : [];
  const entryNames = listEntryNames(passes);
  return {
    name: SMART_SETTING,
    scope,
    passes: readPassEntries({ passes }).flatMap((entry) => {
      const draft = view.drafts[makeDraftKey(scope, entry)];
      const name = entryNames[entry.index];
      if (!draft || !name) return [];
      const { value } = rebaseDraft(entry.raw, draft);
      return isEqual(value, entry.raw) ? [] : [{ entry: name, pass: value }];
    }),
  };
}

/**
 * Call the returned function before other passes replace the current ones, because the new passes
 * may have the same IDs.
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

export function usePassDraft(savedPass: PassEntry): PassDraft {
  const { connection, view, changeView, state } = usePanel();
  const { scope } = useSetting(SMART_SETTING);
  const key = makeDraftKey(scope, savedPass);
  const path = ['passes', savedPass.index];
  const draft = view.drafts[key];
  const { value, isConflict } = draft ? rebaseDraft(savedPass.raw, draft) : { value: savedPass.raw, isConflict: false };
  const isChanged = draft !== undefined && !isEqual(value, savedPass.raw);
  const [checkedPass, setCheckedPass] = useState<{ readonly text: string; readonly effective: unknown }>();
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set());
  const [round, setRound] = useState(0);
  // Each change applies to the result of the previous one and is checked before the next.
  const latestPass = useRef<Fields>(value);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const text = JSON.stringify(value);
  useEffect(() => {
    latestPass.current = JSON.parse(text) as Fields;
  }, [text]);

  const checkPass = (newValue: unknown) =>
    connection.sendRequest('checkSetting', { name: SMART_SETTING, scope, path, value: newValue });
  useEffect(() => {
    if (!isChanged || checkedPass?.text === text) return;
    // The page was reloaded since this draft began, so its effective value is unknown.
    checkPass(value).then(
      ({ effective }) => {
        setCheckedPass({ text, effective });
      },
      () => undefined,
    );
  }, [isChanged, text]);

  const changePass = async (pathInside: readonly (string | number)[], newValue: unknown, isTrial: boolean) => {
    let newPass: unknown;
    try {
      newPass = replaceSettingValueAt(latestPass.current, pathInside, newValue);
    } catch (error) {
      if (error instanceof SettingPathError) return [{ path: '', message: error.message }];
      throw error;
    }
    const { problems, effective } = await checkPass(newPass);
    if (problems.length > 0 || isTrial || !isPlainObject(newPass)) return problems;
    latestPass.current = newPass;
    const keptDraft = { before: draft?.before ?? savedPass.raw, after: newPass };
    if (effective !== undefined) setCheckedPass({ text: JSON.stringify(newPass), effective });
    changeView(({ drafts }) => ({ drafts: { ...drafts, [key]: keptDraft } }));
    return problems;
  };
  const dropDraft = (): void => {
    changeView(({ drafts }) => ({
      drafts: Object.fromEntries(Object.entries(drafts).filter(([other]) => other !== key)),
    }));
  };
  return {
    entry: { ...(readPassEntries({ passes: [value] })[0] ?? savedPass), index: savedPass.index, key: savedPass.key },
    edited: {
      name: SMART_SETTING,
      path,
      value,
      effective: isChanged ? checkedPass?.effective : getValueAt(state.settings[SMART_SETTING]?.effective, path),
      isChanged,
      change: (pathInside, newValue, isTrial) => {
        const result = queue.current.then(() => changePass(pathInside, newValue, isTrial));
        queue.current = result.catch(() => undefined);
        trackValidation(result);
        return result;
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
      return wrong.size > 0 || isEqual(latestPass.current, savedPass.raw) ? undefined : latestPass.current;
    },
    discard: () => {
      dropDraft();
      latestPass.current = savedPass.raw;
      setRound(round + 1);
    },
  };
}
