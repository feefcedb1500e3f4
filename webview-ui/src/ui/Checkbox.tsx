import { useLayoutEffect, type ReactNode } from 'react';
import { useOptimisticChoice } from './chosen';
import { useLabeledControl } from './labelled';
import './toolkit';

interface CheckboxProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** True if adjacent text already labels the checkbox for sighted users. */
  readonly isLabelHidden?: boolean;
  readonly checked: boolean;
  /** Shows the choice until the returned promise settles, then the value. */
  readonly onChange: (checked: boolean) => unknown;
}

export function Checkbox({ label, help, isLabelHidden = false, checked, onChange }: CheckboxProps): ReactNode {
  const labels = useLabeledControl({ label, help });
  const { shownValue, chooseValue } = useOptimisticChoice(checked, onChange);
  // The element toggles itself when clicked. React restores only what changed for React, so a
  // refused choice must be restored here.
  useLayoutEffect(() => {
    if (labels.current) Object.assign(labels.current, { checked: shownValue });
  });
  return (
    <vscode-checkbox
      ref={labels}
      checked={shownValue}
      onChange={(event) => {
        void chooseValue((event.target as HTMLInputElement).checked);
      }}
    >
      {isLabelHidden ? '' : label}
    </vscode-checkbox>
  );
}
