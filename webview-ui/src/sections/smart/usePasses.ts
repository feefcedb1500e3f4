/** Changes to the list of passes. Each is one write of the list, and can be taken back. */
import { useState } from 'react';
import { t } from '../../l10n';
import { useSetting } from '../../state/useSetting';
import { freshId, newPass, passesOf, type PassEntry } from './smartValue';

export interface Passes {
  readonly entries: readonly PassEntry[];
  /** What was done last, and how to take it back. */
  readonly done: { readonly text: string; readonly undo: () => void } | undefined;
  readonly problems: readonly string[];
  readonly add: () => Promise<void>;
  readonly duplicate: (entry: PassEntry) => Promise<void>;
  readonly remove: (entry: PassEntry) => Promise<void>;
  /** @param to the place in the list, from 0. */
  readonly move: (from: number, to: number) => Promise<void>;
}

/** @param name of the setting that holds the configuration. */
export function usePasses(name: string): Passes {
  const setting = useSetting(name, ['passes']);
  const [done, setDone] = useState<Passes['done']>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  // What is being saved is shown at once: what was dropped would jump back for a moment otherwise.
  const [saving, setSaving] = useState<readonly unknown[]>();
  const saved: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const raws = saving ?? saved;
  const entries = passesOf({ passes: raws });

  const change = async (after: readonly unknown[], text: string): Promise<void> => {
    setSaving(after);
    const found = await setting.save(after);
    setSaving(undefined);
    setProblems(found);
    if (found.length > 0) return;
    const undo = (): void => {
      setDone(undefined);
      void setting.save(raws);
    };
    setDone({ text, undo });
  };
  return {
    entries,
    done,
    problems,
    add: () => {
      const id = freshId(entries);
      return change([...raws, newPass(id, t('Pass {0}', entries.length + 1))], t('A pass was added at the end.'));
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
