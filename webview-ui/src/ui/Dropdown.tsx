import type { ReactNode } from 'react';
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
  readonly onChange: (value: string) => void;
}

export function Dropdown({ label, help, value, choices, onChange }: DropdownProps): ReactNode {
  const labels = useLabels({ label, help });
  return (
    <vscode-dropdown
      ref={labels}
      value={value}
      onChange={(event) => {
        const chosen = (event.target as HTMLSelectElement).value;
        if (chosen !== value) onChange(chosen);
      }}
    >
      {choices.map((choice) => (
        <vscode-option key={choice.value} value={choice.value} selected={choice.value === value}>
          {choice.label}
        </vscode-option>
      ))}
    </vscode-dropdown>
  );
}
