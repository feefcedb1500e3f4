/** Changes to the list of passes. Each is one write of the list, and can be taken back. */
import { useEffect, useState } from 'react';
import { t } from '../../l10n';
import { useSetting } from '../../state/useSetting';
import { freshId, newPass, passesOf, type PassEntry } from './smartValue';

export interface Passes {
  readonly entries: readonly PassEntry[];
  /** The last change, and how to take it back. */
  readonly done: { readonly text: string; readonly undo: () => void } | undefined;
  readonly problems: readonly string[];
  readonly add: () => Promise<void>;
  readonly duplicate: (entry: PassEntry) => Promise<void>;
  readonly remove: (entry: PassEntry) => Promise<void>;
  /** @param to the place in the list, from 0. */
  readonly move: (from: number, to: number) => Promise<void>;
}

/** A list that was written and that the settings may not hold yet. */
interface Written {
  readonly list: readonly unknown[];
  /** The settings before, as JSON: while they say one of these, the list is on its way. */
  readonly before: readonly string[];
  readonly isSaved: boolean;
}

/** @param name of the setting that holds the configuration. */
export function usePasses(name: string): Passes {
  const setting = useSetting(name, ['passes']);
  const [done, setDone] = useState<{ readonly text: string; readonly before: readonly unknown[] }>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  // The written list is shown until the settings hold it: a pass that was dropped would jump back for a moment otherwise, and
  // what is done next would be done to the list of before.
  const [written, setWritten] = useState<Written>();
  const saved: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const savedText = JSON.stringify(saved);
  useEffect(() => {
    if (!written?.isSaved) return;
    if (!written.before.includes(savedText) || savedText === JSON.stringify(written.list)) setWritten(undefined);
  }, [written, savedText]);
  const raws = written?.list ?? saved;
  const entries = passesOf({ passes: raws });

  /** @returns whether the list is saved. */
  const write = async (after: readonly unknown[]): Promise<boolean> => {
    const before = [...(written?.before ?? []), savedText, JSON.stringify(raws)];
    setWritten({ list: after, before, isSaved: false });
    const found = await setting.save(after);
    setProblems(found);
    if (found.length > 0) {
      setWritten(undefined);
      return false;
    }
    setWritten((now) => (now?.list === after ? { ...now, isSaved: true } : now));
    return true;
  };
  const change = async (after: readonly unknown[], text: string): Promise<void> => {
    // The last change is no longer the last: its undo would take back two.
    setDone(undefined);
    if (await write(after)) setDone({ text, before: raws });
  };
  return {
    entries,
    done: done && {
      text: done.text,
      undo: () => {
        setDone(undefined);
        void write(done.before);
      },
    },
    problems,
    add: () => {
      const called = t('Pass {0}', entries.length + 1);
      return change([...raws, newPass(freshId(entries), called)], t('"{0}" was added at the end.', called));
    },
    duplicate: ({ index, raw, name: called }) => {
      const copy = { ...raw, id: freshId(entries), name: t('{0} (copy)', called) };
      return change(raws.toSpliced(index + 1, 0, copy), t('"{0}" was duplicated.', called));
    },
    remove: ({ index, name: called }) => change(raws.toSpliced(index, 1), t('"{0}" was deleted.', called)),
    move: (from, to) => {
      const moved = raws[from];
      if (from === to || to < 0 || to >= raws.length) return Promise.resolve();
      const called = entries[from]?.name ?? '';
      return change(
        raws.toSpliced(from, 1).toSpliced(to, 0, moved),
        t('"{0}" is at position {1} of {2} now.', called, to + 1, raws.length),
      );
    },
  };
}
