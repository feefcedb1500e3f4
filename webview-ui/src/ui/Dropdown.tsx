import type { ReactNode } from 'react';
import { useChosen } from './chosen';
import { useLabels } from './labelled';
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
  const labels = useLabels({ label, help });
  const { shown, choose } = useChosen(value, onChange);
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
