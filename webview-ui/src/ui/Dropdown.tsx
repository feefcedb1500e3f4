import { useState, type ReactNode } from 'react';
import { useLabels } from './labelled';
import './toolkit';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface DropdownProps {
  readonly label: string;
  readonly help?: string | undefined;
  readonly value: string;
  readonly choices: readonly Choice[];
  /** The choice shows until a promise that this returns is settled, and the value from then on. */
  readonly onChange: (value: string) => unknown;
}

export function Dropdown({ label, help, value, choices, onChange }: DropdownProps): ReactNode {
  const labels = useLabels({ label, help });
  // With the arrow keys one choice follows another before the first is saved: that one may not come back over the others.
  const [chosen, setChosen] = useState<{ readonly value: string }>();
  const shown = chosen?.value ?? value;
  const choose = async (wanted: string): Promise<void> => {
    if (wanted === shown) return;
    const mine = { value: wanted };
    setChosen(mine);
    await onChange(wanted);
    setChosen((now) => (now === mine ? undefined : now));
  };
  return (
    <vscode-dropdown
      ref={labels}
      value={shown}
      onChange={(event) => {
        void choose((event.target as HTMLSelectElement).value);
      }}
    >
      {choices.map((choice) => (
        <vscode-option key={choice.value} value={choice.value} selected={choice.value === shown}>
          {choice.label}
        </vscode-option>
      ))}
    </vscode-dropdown>
  );
}
