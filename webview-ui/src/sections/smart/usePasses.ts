/** Each change names its pass, is applied by the host to the current list, and can be undone. */
import { useEffect, useRef, useState } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import {
  applyListChange,
  listEntryNames,
  SettingPathError,
  type ListEntryName,
  type ListChange,
} from '../../../../src/core/settingValue';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { makeUnusedPassId, makeNewPass, readPassEntries, type PassEntry } from './smartValue';
import { isEqual } from '../../../../src/core/isEqual';

type Fields = Readonly<Record<string, unknown>>;

export interface PassListState {
  readonly entries: readonly PassEntry[];
  readonly done: { readonly text: string; readonly undo: () => void } | undefined;
  /** Undoes the last change, also one that is still being saved. */
  readonly undo: (() => void) | undefined;
  /** Redoes the change that was undone last. */
  readonly redo: (() => void) | undefined;
  readonly problems: readonly string[];
  /** @returns the key of the new pass */
  readonly add: () => string;
  readonly duplicate: (entry: PassEntry) => Promise<void>;
  readonly remove: (entry: PassEntry) => Promise<void>;
  /** @param to index in the list */
  readonly move: (from: number, to: number) => Promise<void>;
  /**
   * Replaces a pass.
   * @returns problems of the value
   */
  readonly replace: (entry: PassEntry, value: Fields) => Promise<readonly string[]>;
}

interface PendingInsert {
  readonly entry: ListEntryName;
  readonly value: Fields;
}

interface UndoablePassChange {
  readonly text: string;
  readonly undo: () => void;
  /** Absent if the host alone can undo the change, whatever has changed since. */
  readonly pendingInsert?: PendingInsert | undefined;
}

interface RedoablePassChange {
  readonly run: () => void;
  /** As in {@link UndoablePassChange}. */
  readonly pendingInsert?: PendingInsert;
}

/** A change that the settings may not contain yet. */
interface PendingChange {
  readonly change: ListChange;
  readonly isSaved: boolean;
}

/** @param name of the setting that contains the configuration */
export function usePasses(name: string): PassListState {
  const { connection } = usePanel();
  const setting = useSetting(name, ['passes']);
  const { scope } = setting;
  const [doneChange, setDoneChange] = useState<UndoablePassChange>();
  const [undoneChange, setUndoneChange] = useState<RedoablePassChange>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  // Show changes before the settings contain them; otherwise a dropped pass would jump back for a
  // moment.
  const [pending, setPending] = useState<readonly PendingChange[]>([]);
  const savedPasses: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const savedText = JSON.stringify(savedPasses);
  useEffect(() => {
    // The settings contain the saved changes by now, because the new list arrives before the answer
    // to a change.
    setPending((before) => (before.some(({ isSaved }) => isSaved) ? before.filter(({ isSaved }) => !isSaved) : before));
  }, [pending, savedText]);
  const rawPasses = pending.reduce((list, { change }) => applyChangeIfPossible(list, change), savedPasses);
  const entries = readPassEntries({ passes: rawPasses });
  const entryNames = listEntryNames(rawPasses);
  const getEntryName = ({ index }: PassEntry): ListEntryName => entryNames[index] ?? { id: '', nth: 0 };

  const sendChange = async (change: ListChange): Promise<ListChange | undefined> => {
    const ownEdit: PendingChange = { change, isSaved: false };
    setPending((before) => [...before, ownEdit]);
    try {
      const { problems: errors, undo } = await connection.sendRequest('changeList', {
        name,
        scope,
        path: ['passes'],
        change,
      });
      setProblems(errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)));
      setPending((before) =>
        before.flatMap((one) => (one !== ownEdit ? [one] : errors.length > 0 ? [] : [{ ...one, isSaved: true }])),
      );
      return undo;
    } catch (error) {
      setProblems([getErrorMessage(error)]);
      setPending((before) => before.filter((one) => one !== ownEdit));
      return undefined;
    }
  };
  // The answer to a change may arrive during the next change; only the last change can be undone.
  const changeCount = useRef(0);
  const [isChanging, setIsChanging] = useState(false);
  const isUndoWanted = useRef(false);
  /** @returns a function for the change's answer; without undo, the change failed */
  const beginChange = (): ((
    text: string,
    undo: (() => unknown) | undefined,
    pendingInsert?: PendingInsert,
  ) => void) => {
    const ownCount = ++changeCount.current;
    setDoneChange(undefined);
    setUndoneChange(undefined);
    setIsChanging(true);
    isUndoWanted.current = false;
    return (text, undo, pendingInsert) => {
      if (ownCount !== changeCount.current) return;
      setIsChanging(false);
      if (!undo) return;
      if (isUndoWanted.current) {
        undo();
        return;
      }
      setDoneChange({
        text,
        pendingInsert,
        undo: () => {
          setDoneChange(undefined);
          undo();
        },
      });
    };
  };
  const changeList = async (wanted: ListChange, text: string): Promise<void> => {
    const reportIfLast = beginChange();
    const undo = await sendChange(wanted);
    const undoChange = async (inverse: ListChange): Promise<void> => {
      const ownCount = changeCount.current;
      const redo = await sendChange(inverse);
      if (redo && ownCount === changeCount.current) setUndoneChange({ run: () => void changeList(redo, text) });
    };
    reportIfLast(text, undo && (() => undoChange(undo)));
  };
  const replaceEntry = async (entry: ListEntryName, value: unknown): Promise<readonly string[]> => {
    try {
      const { problems: newProblems } = await connection.sendRequest('updateSetting', {
        name,
        scope,
        path: ['passes', entry],
        value,
      });
      return newProblems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    } catch (error) {
      return [getErrorMessage(error)];
    }
  };
  // Undo replaces the whole pass, so the pass must be unchanged since the change.
  const isStillInList = ({ entry: { id, nth }, value }: PendingInsert): boolean => {
    const index = entryNames.findIndex((other) => other.id === id && other.nth === nth);
    return isEqual(rawPasses[index], value);
  };
  const shownChange =
    doneChange?.pendingInsert === undefined || isStillInList(doneChange.pendingInsert) ? doneChange : undefined;
  const canRedo = undoneChange?.pendingInsert === undefined || isStillInList(undoneChange.pendingInsert);
  const replaceAndReport = async (entry: PassEntry, value: Fields): Promise<readonly string[]> => {
    const tellIfLast = beginChange();
    const place = getEntryName(entry);
    const newProblems = await replaceEntry(place, value);
    const undoReplacement = async (): Promise<void> => {
      const ownCount = changeCount.current;
      const undoProblems = await replaceEntry(place, entry.raw);
      setProblems(undoProblems);
      if (undoProblems.length === 0 && ownCount === changeCount.current) {
        const redo = (): void => void replaceAndReport(entry, value);
        setUndoneChange({ run: redo, pendingInsert: { entry: place, value: entry.raw } });
      }
    };
    const undo = newProblems.length === 0 ? undoReplacement : undefined;
    tellIfLast(t('“{0}” was changed.', entry.name), undo, { entry: place, value });
    return newProblems;
  };
  const undoOnceSaved = (): void => {
    isUndoWanted.current = true;
  };
  return {
    entries,
    done: shownChange,
    undo: isChanging ? undoOnceSaved : shownChange?.undo,
    redo: canRedo ? undoneChange?.run : undefined,
    problems,
    add: () => {
      const passName = t('Pass {0}', entries.length + 1);
      const id = makeUnusedPassId(entries);
      const change: ListChange = { kind: 'insert', entry: { ...makeNewPass(id, passName) }, place: {} };
      void changeList(change, t('“{0}” was added at the end.', passName));
      return id;
    },
    duplicate: (entry) => {
      const original = getEntryName(entry);
      const copy = { id: makeUnusedPassId(entries), name: t('{0} (copy)', entry.name) };
      const text = t('“{0}” was duplicated.', entry.name);
      return changeList({ kind: 'insert', entry: copy, copyOf: original, place: { after: original } }, text);
    },
    remove: (entry) => changeList({ kind: 'remove', entry: getEntryName(entry) }, t('“{0}” was deleted.', entry.name)),
    move: (oldIndex, newIndex) => {
      const [movedName, neighborName] = [entryNames[oldIndex], entryNames[newIndex]];
      if (oldIndex === newIndex || !movedName || !neighborName) return Promise.resolve();
      return changeList(
        {
          kind: 'move',
          entry: movedName,
          place: newIndex < oldIndex ? { before: neighborName } : { after: neighborName },
        },
        t('“{0}” is now at position {1} of {2}.', entries[oldIndex]?.name ?? '', newIndex + 1, rawPasses.length),
      );
    },
    replace: replaceAndReport,
  };
}

/** Ignores a change that is no longer possible, because the host reports it. */
function applyChangeIfPossible(list: readonly unknown[], change: ListChange): readonly unknown[] {
  try {
    return applyListChange(list, change).list;
  } catch (error) {
    if (error instanceof SettingPathError) return list;
    throw error;
  }
}
