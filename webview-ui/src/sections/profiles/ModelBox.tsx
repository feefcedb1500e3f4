import { useState, type ReactNode } from 'react';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { Button, Combobox, LinkButton, ProgressRing } from '../../ui';
import type { FieldLabels } from '../../ui/labelled';
import { describeVendorModel, type VendorModelsLookup } from './vendorModels';

interface ModelNameFieldProps extends FieldLabels {
  readonly value: string;
  /** The vendor's list of models; absent if the vendor has none. */
  readonly vendorModels?: VendorModelsLookup | undefined;
  readonly onInput: (value: string) => void;
  readonly onCommit: (value: string) => void;
  /** Content that is shown after the vendor's facts about the model. */
  readonly children?: ReactNode;
}

export function ModelNameField({
  vendorModels,
  children,
  onInput,
  onCommit,
  ...field
}: ModelNameFieldProps): ReactNode {
  // A name that is half typed is in no list; to say so on each key would interrupt a screen reader.
  const [isTyping, setTyping] = useState(false);
  const { models, isBusy = false, problem = '', lookUp, cancel } = vendorModels ?? {};
  const listedModel = models?.find(({ id }) => id === field.value.trim());
  return (
    <>
      <Combobox
        {...field}
        onInput={(value) => {
          setTyping(true);
          onInput(value);
        }}
        onCommit={(value) => {
          setTyping(false);
          onCommit(value);
        }}
        choices={models?.map(({ id }) => id) ?? []}
        placeholder={models ? t('Choose or type a model’s name') : ''}
      />
      <p className="actions">
        {isBusy ? (
          <>
            <ProgressRing label={t('Asking the vendor for its models…')} />
            <Button onClick={() => cancel?.()}>{t('Cancel')}</Button>
          </>
        ) : (
          <>
            {models && (
              <span className="row-note" role="status">
                {listedModel
                  ? describeVendorModel(listedModel)
                  : !isTyping && field.value.trim() !== '' && models.length > 0
                    ? t('“{0}” isn’t in the vendor’s list. Check the name.', field.value.trim())
                    : models.length === 1
                      ? t('1 model in the list')
                      : t('{0} models in the list', models.length)}
              </span>
            )}
            {children}
            {lookUp && !models && <LinkButton onClick={lookUp}>{t('Look up models')}</LinkButton>}
          </>
        )}
      </p>
      <ProblemList problems={problem === '' ? [] : [problem]} />
    </>
  );
}
