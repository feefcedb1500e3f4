import type { ReactNode } from 'react';
import { useOptimisticChoice } from './chosen';
import { useLabeledControl } from './labelled';
import './toolkit';

export interface DropdownChoice {
  readonly value: string;
  readonly label: string;
}

interface DropdownProps {
  readonly label: string;
  readonly help?: string | undefined;
  readonly value: string;
  readonly choices: readonly DropdownChoice[];
  /** Shows the choice until the returned promise settles, then the value. */
  readonly onChange: (value: string) => unknown;
}

export function Dropdown({ label, help, value, choices, onChange }: DropdownProps): ReactNode {
  const labels = useLabeledControl({ label, help });
  const { shownValue, chooseValue } = useOptimisticChoice(value, onChange);
  return (
    <vscode-dropdown
      ref={labels}
      value={shownValue}
      onChange={(event) => {
        void chooseValue((event.target as HTMLSelectElement).value);
      }}
    >
      {choices.map((choice) => (
        <vscode-option key={choice.value} value={choice.value} selected={choice.value === shownValue}>
          {choice.label}
        </vscode-option>
      ))}
    </vscode-dropdown>
  );
}
