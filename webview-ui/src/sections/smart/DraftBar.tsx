import { useState, type ReactNode } from 'react';
import type { PreviewStep } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { formatChange, formatDollars, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useLatestAnswer } from '../../state/useLatest';
import { useSetting } from '../../state/useSetting';
import { Button, LinkButton } from '../../ui';
import { usePreviewedConversation, usePreviewKey } from '../preview/usePreview';
import { usePassDrafts, type PassDraft } from './passDraft';

interface PassDraftBarProps {
  readonly draft: PassDraft;
  /** @returns problems of the value */
  readonly onApply: (value: Readonly<Record<string, unknown>>) => Promise<readonly string[]>;
}

export function PassDraftBar({ draft, onApply }: PassDraftBarProps): ReactNode {
  const { reveal, state } = usePanel();
  const { scope } = useSetting('smart');
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isInVain, setInVain] = useState(false);
  const { entry, isChanged, obstacle } = draft;
  const applyDraft = async (): Promise<void> => {
    const value = await draft.waitUntilSettled();
    setInVain(!value);
    if (!value) return;
    const newProblems = await onApply(value);
    setProblems(newProblems);
    if (newProblems.length === 0) draft.discard();
  };
  const settingsText =
    scope === 'user' ? t('in your user settings') : t('in the settings of workspace {0}', state.workspace ?? '');
  return (
    <div className="draft-bar" role="group" aria-label={t('Draft of {0}', entry.name)}>
      <PassEstimate entry={entry} />
      <p className="row-help">
        {isChanged
          ? t('This is a draft. It takes effect once you apply it {0}.', settingsText)
          : t('Changes here are a draft until you apply them {0}.', settingsText)}{' '}
        {obstacle === 'field' && t('Fix the marked errors first.')}
        {obstacle === 'conflict' &&
          t('The pass has since been changed elsewhere. Applying overwrites that change.')}{' '}
        <span role="status">
          {isInVain && !isChanged && obstacle === undefined && t('Nothing has changed, so there is nothing to apply.')}
        </span>
      </p>
      <p className="actions">
        {/* Enabled even without changes, because a click comes before the text of the field that the user leaves is checked. */}
        <Button primary disabled={obstacle === 'field'} onClick={() => void applyDraft()}>
          {t('Apply')}
        </Button>
        <Button
          disabled={!isChanged && obstacle !== 'field'}
          onClick={() => {
            setProblems([]);
            setInVain(false);
            draft.discard();
          }}
        >
          {t('Discard')}
        </Button>
        <LinkButton
          onClick={() => {
            reveal('preview');
          }}
        >
          {isChanged ? t('Try it in the preview') : t('Show the preview')}
        </LinkButton>
      </p>
      <ProblemList problems={problems} />
    </div>
  );
}

function PassEstimate({ entry }: { readonly entry: PassDraft['entry'] }): ReactNode {
  const [conversation] = usePreviewedConversation();
  const drafts = usePassDrafts();
  const {
    answer,
    lastResult: estimate,
    isWaiting,
  } = useLatestAnswer('previewPass', { conversation, drafts, pass: entry.index }, usePreviewKey());
  if (answer.kind === 'failed') return <ProblemList problems={[answer.message]} />;
  return (
    <p className="pass-estimate" role="status" aria-busy={isWaiting}>
      {estimate ? formatPassEstimate(estimate.steps, estimate.title) : t('Working out what it does…')}
    </p>
  );
}

function formatPassEstimate(steps: readonly PreviewStep[], title: string): string {
  const [firstStep] = steps;
  const lastStep = steps.at(-1);
  if (!firstStep || !lastStep) return t('Switched off: it does nothing.');
  const { outcome } = firstStep;
  if (outcome.kind === 'skipped') return t('Does not run in “{0}”: {1}.', title, t(outcome.reason));
  if (outcome.kind === 'failed') return t('Skipped in “{0}”: {1}', title, t(outcome.reason));
  const calls = steps.reduce((sum, step) => sum + (step.calls ?? 0), 0);
  const isPriced = steps.every(({ cost }) => cost !== undefined);
  const cost = steps.reduce((sum, step) => sum + (step.cost ?? 0), 0);
  const edits = steps.reduce((sum, step) => sum + step.edits, 0);
  const change = (100 * (lastStep.tokensAfter - firstStep.tokensBefore)) / Math.max(1, firstStep.tokensBefore);
  const tokens =
    edits === 0
      ? t('Finds nothing to do')
      : edits === 1
        ? t('{0} → {1} tokens ({2}), 1 change', firstStep.tokensBefore, lastStep.tokensAfter, formatChange(change))
        : t(
            '{0} → {1} tokens ({2}), {3} changes',
            firstStep.tokensBefore,
            lastStep.tokensAfter,
            formatChange(change),
            edits,
          );
  const price =
    calls === 0
      ? t('free')
      : calls === 1
        ? t('{0} for 1 call', formatDollars(isPriced ? cost : undefined))
        : t('{0} for {1} calls', formatDollars(isPriced ? cost : undefined), calls);
  return t('{0} · {1} · in “{2}”', tokens, price, title);
}
