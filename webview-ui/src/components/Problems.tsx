import type { ReactNode } from 'react';
import { capitalize } from '../l10n';
import { Icon } from '../ui';

/**
 * Leaves names at the beginning alone: a field's, such as `or.0.minTokens: …`, and a model's, such
 * as `my model: The API key …`.
 */
const capitalizeSentence = (problem: string): string =>
  /^[a-z]+ (?!›|[^:]*: [A-Z])/.test(problem) ? capitalize(problem) : problem;

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
