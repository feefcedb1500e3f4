import type { ReactNode } from 'react';
import { capitalize } from '../l10n';
import { Icon } from '../ui';

/** A problem that begins with the place of a field, such as `or.0.minTokens: …`, is left alone. */
const capitalizeSentence = (problem: string): string => (/^[a-z]+ /.test(problem) ? capitalize(problem) : problem);

/** Screen readers announce problems when they appear. */
export function ProblemList({ problems }: { readonly problems: readonly string[] }): ReactNode {
  return (
    <div role="alert" className="problems">
      {problems.map((problem) => (
        <p key={problem} className="problem">
          <Icon name="error" />
          <span>{capitalizeSentence(problem)}</span>
        </p>
      ))}
    </div>
  );
}
