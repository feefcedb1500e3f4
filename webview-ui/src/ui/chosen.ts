import { useState } from 'react';

/**
 * What a control shows: a choice until it is saved or refused, and the value from then on. With the arrow keys one choice follows another
 * before the first is saved: that one may not come back over the others.
 * @param save the choice shows until a promise that this returns is settled
 */
export function useChosen<Value>(
  value: Value,
  save: (chosen: Value) => unknown,
): { readonly shown: Value; readonly choose: (wanted: Value) => Promise<void> } {
  const [chosen, setChosen] = useState<{ readonly value: Value }>();
  const shown = chosen ? chosen.value : value;
  return {
    shown,
    choose: async (wanted) => {
      if (wanted === shown) return;
      const mine = { value: wanted };
      setChosen(mine);
      try {
        await save(wanted);
      } finally {
        setChosen((now) => (now === mine ? undefined : now));
      }
    },
  };
}
