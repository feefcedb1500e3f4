import type { ReactNode } from 'react';
import './toolkit';

/** @param label what the user waits for */
export function ProgressRing({ label }: { readonly label: string }): ReactNode {
  return (
    <span className="progress" role="status">
      <vscode-progress-ring aria-hidden="true" />
      <span>{label}</span>
    </span>
  );
}
