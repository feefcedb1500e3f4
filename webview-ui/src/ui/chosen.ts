import { useRef, useState } from 'react';

export interface OptimisticChoice<Value> {
  /** The choice until it is saved or refused, then the saved value. */
  readonly shownValue: Value;
  /** Shows a value that isn't final yet, such as a slider's while it moves. */
  readonly showValue: (value: Value) => void;
  /** Resolves when the value, or a newer one in its place, is saved or refused. */
  readonly chooseValue: (value: Value) => Promise<void>;
}

interface PickedValue<Value> {
  readonly value: Value;
}

/**
 * Shows the choice until the promise of `save` settles. Users may choose faster than values are
 * saved, for example with arrow keys. So only one save runs at a time, the newest choice follows
 * it, and no answer replaces a newer choice.
 */
export function useOptimisticChoice<Value>(value: Value, save: (chosen: Value) => unknown): OptimisticChoice<Value> {
  const [pickedValue, setPicked] = useState<PickedValue<Value>>();
  const newestPick = useRef<PickedValue<Value>>(undefined);
  const waitingSave = useRef<() => Promise<void>>(undefined);
  const runningSaves = useRef<Promise<void>>(undefined);

  const setPickedValue = (next: PickedValue<Value> | undefined): void => {
    newestPick.current = next;
    setPicked(next);
  };
  const saveWaiting = async (): Promise<void> => {
    for (let nextSave = waitingSave.current; nextSave; nextSave = waitingSave.current) {
      waitingSave.current = undefined;
      await nextSave();
    }
  };
  return {
    shownValue: pickedValue ? pickedValue.value : value,
    showValue: (value) => {
      setPickedValue({ value });
    },
    chooseValue: async (newChoice) => {
      if (!runningSaves.current && newChoice === value) {
        setPickedValue(undefined);
        return;
      }
      const ownPick = { value: newChoice };
      setPickedValue(ownPick);
      waitingSave.current = async () => {
        try {
          await save(newChoice);
        } finally {
          if (newestPick.current === ownPick) setPickedValue(undefined);
        }
      };
      runningSaves.current ??= saveWaiting().finally(() => {
        runningSaves.current = undefined;
      });
      await runningSaves.current;
    },
  };
}
