import type { ReactNode } from 'react';
import { Icon } from '../ui';

/** Screen readers announce problems when they appear. */
export function ProblemList({ problems }: { readonly problems: readonly string[] }): ReactNode {
  return (
    <div role="alert" className="problems">
      {problems.map((problem) => (
        <p key={problem} className="problem">
          <Icon name="error" />
          <span>{problem}</span>
        </p>
      ))}
    </div>
  );
}
