import { useLayoutEffect, type ReactNode } from 'react';
import { useChosen } from './chosen';
import { useLabels } from './labelled';
import './toolkit';

interface CheckboxProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** Adjacent text already labels the checkbox for sighted users. */
  readonly isLabelHidden?: boolean;
  readonly checked: boolean;
  /** The choice shows until a promise that this returns is settled, and the value from then on. */
  readonly onChange: (checked: boolean) => unknown;
}

export function Checkbox({ label, help, isLabelHidden = false, checked, onChange }: CheckboxProps): ReactNode {
  const labels = useLabels({ label, help });
  const { shown, choose } = useChosen(checked, onChange);
  // The element toggles itself when clicked. React restores only what changed for React: after a refused choice,
  // nothing did.
  useLayoutEffect(() => {
    if (labels.current) Object.assign(labels.current, { checked: shown });
  });
  return (
    <vscode-checkbox
      ref={labels}
      checked={shown}
      onChange={(event) => {
        void choose((event.target as HTMLInputElement).checked);
      }}
    >
      {isLabelHidden ? '' : label}
    </vscode-checkbox>
  );
}
