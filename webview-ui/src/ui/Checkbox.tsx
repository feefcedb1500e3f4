import type { ReactNode } from 'react';
import { useLabels } from './labelled';
import './toolkit';

interface CheckboxProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** The text beside it says it already to those who see. */
  readonly isLabelHidden?: boolean;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

/** The element changes itself when it is clicked; what it shows is put right by the next rendering. */
export function Checkbox({ label, help, isLabelHidden = false, checked, onChange }: CheckboxProps): ReactNode {
  const labels = useLabels({ label, help });
  return (
    <vscode-checkbox
      ref={labels}
      checked={checked}
      onChange={(event) => {
        const { checked: wanted } = event.target as HTMLInputElement;
        if (wanted !== checked) onChange(wanted);
      }}
    >
      {isLabelHidden ? '' : label}
    </vscode-checkbox>
  );
}
