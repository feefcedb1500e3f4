import { useRef, useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../src/core/errors';
import type { MethodResult } from '../../../src/panel/protocol';
import { SettingRow } from '../components/Row';
import { getHelpText } from '../components/schema';
import { getFieldTitle } from '../components/titles';
import { t } from '../l10n';
import { usePanel } from '../state/panel';
import { useFieldDraft, type ParsedText } from '../state/useDraft';
import { useSetting } from '../state/useSetting';
import { Button, ProgressRing, TextArea } from '../ui';

const parseOptionalPrompt = (text: string): ParsedText => (text === '' ? {} : { value: text });

export function PromptEditor(): ReactNode {
  const { connection, welcome } = usePanel();
  const setting = useSetting('condensingPrompt');
  const draft = useFieldDraft(setting, typeof setting.value === 'string' ? setting.value : '', parseOptionalPrompt);
  const [preview, setPreview] = useState<MethodResult<'previewPrompt'> | 'running'>();
  const [failure, setFailure] = useState<string>();
  const runningRequest = useRef<AbortController>(undefined);
  const schema = welcome.schemas['condensingPrompt'] ?? {};
  const title = getFieldTitle('condensingPrompt', schema);
  const help = getHelpText(schema) ?? '';
  const showPreview = async (): Promise<void> => {
    runningRequest.current?.abort();
    const abortController = new AbortController();
    runningRequest.current = abortController;
    setPreview('running');
    setFailure(undefined);
    try {
      setPreview(
        await connection.sendRequest('previewPrompt', { prompt: draft.text }, { signal: abortController.signal }),
      );
    } catch (error) {
      if (abortController.signal.aborted) return;
      setPreview(undefined);
      setFailure(getErrorMessage(error));
    }
  };
  const problems = [...draft.problems, ...(failure === undefined ? [] : [failure])];
  return (
    <SettingRow setting={setting} title={title} help={help} problems={problems} keywords="condensing prompt summary">
      <TextArea
        label={title}
        help={[help, ...draft.problems].join(' ')}
        invalid={draft.problems.length > 0}
        rows={8}
        placeholder={t('Empty: the built-in prompt.')}
        value={draft.text}
        onInput={draft.onInput}
        onCommit={draft.onCommit}
      />
      <p className="actions">
        <Button disabled={draft.problems.length > 0} onClick={() => void showPreview()}>
          {t('Preview the prompt')}
        </Button>
        {preview === 'running' && <ProgressRing label={t('Filling in the sample conversation…')} />}
      </p>
      {typeof preview === 'object' && preview.profile !== undefined && (
        <p role="note">{t('{0} has a prompt of its own. It is shown here, in place of this one.', preview.profile)}</p>
      )}
      {typeof preview === 'object' && (
        <pre className="preview-text" tabIndex={0} aria-label={t('The prompt with the sample conversation')}>
          {preview.text}
        </pre>
      )}
    </SettingRow>
  );
}
