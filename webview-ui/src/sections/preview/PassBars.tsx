import type { ReactNode } from 'react';
import type { Preview, PreviewStep } from '../../../../src/panel/protocol';
import { formatChange, t } from '../../l10n';

/** Shows a bar for each pass: the tokens before it, and within them the tokens that stay. */
export function PassBarChart({ preview }: { readonly preview: Preview }): ReactNode {
  const { steps, tokensBefore } = preview;
  const reportedSteps = steps.filter(({ edits, outcome }) => edits > 0 || outcome.kind === 'failed');
  const idleCount = steps.filter(({ edits, outcome }) => edits === 0 && outcome.kind === 'done').length;
  const skippedSteps = steps.filter(({ outcome }) => outcome.kind === 'skipped').length;
  return (
    <div className="group-plain">
      <h4 className="group-title">{t('Step by step')}</h4>
      <ol className="pass-bars">
        {reportedSteps.map((step, index) => (
          <PassBar key={`${index} ${step.name}`} step={step} highest={tokensBefore} />
        ))}
      </ol>
      {idleCount > 0 && (
        <p className="row-help">
          {idleCount === 1 ? t('One step finds nothing to do.') : t('{0} steps find nothing to do.', idleCount)}
        </p>
      )}
      {skippedSteps > 0 && (
        <p className="row-help">
          {skippedSteps === 1
            ? t('One step doesn’t run: its condition is not met, or the target is met first.')
            : t('{0} steps don’t run: their conditions are not met, or the target is met first.', skippedSteps)}
        </p>
      )}
    </div>
  );
}

function PassBar({ step, highest }: { readonly step: PreviewStep; readonly highest: number }): ReactNode {
  const { name, tokensBefore, tokensAfter, outcome } = step;
  const formatBarWidth = (tokens: number): string => `${(100 * tokens) / Math.max(1, highest)}%`;
  const change = tokensBefore === 0 ? 0 : (100 * (tokensAfter - tokensBefore)) / tokensBefore;
  return (
    <li className="pass-bar">
      <span className="pass-bar-name">{t(name)}</span>
      <span className="pass-bar-track" aria-hidden="true">
        <span className="pass-bar-before" style={{ inlineSize: formatBarWidth(tokensBefore) }} />
        <span className="pass-bar-after" style={{ inlineSize: formatBarWidth(tokensAfter) }} />
      </span>
      <span className="pass-bar-figures">
        {outcome.kind === 'failed'
          ? t('is skipped: {0}', outcome.reason)
          : t('{0} → {1} ({2})', tokensBefore, tokensAfter, formatChange(change))}
      </span>
    </li>
  );
}
