import type { ReactNode } from 'react';
import { useLabeledControl, type FieldLabels } from './labelled';
import './toolkit';

interface TextProps extends FieldLabels {
  readonly value: string;
  readonly placeholder?: string;
  /** Called with the text on each key. */
  readonly onInput: (value: string) => void;
  /** Called when the field loses focus, or on Enter. */
  readonly onCommit: (value: string) => void;
}

const getInputValue = (event: { readonly target: EventTarget | null }): string =>
  (event.target as HTMLInputElement).value;

interface TextFieldProps extends TextProps {
  /** True for a short field with digits only. */
  readonly numeric?: boolean;
}

export function TextField({ numeric = false, value, placeholder, onInput, onCommit, ...labels }: TextFieldProps) {
  const ref = useLabeledControl(labels);
  return (
    <vscode-text-field
      ref={ref}
      className={getFieldClass(numeric ? 'numeric' : 'wide', labels)}
      value={value}
      placeholder={placeholder ?? ''}
      onInput={(event) => {
        onInput(getInputValue(event));
      }}
      onBlur={(event) => {
        onCommit(getInputValue(event));
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onCommit(getInputValue(event));
      }}
    />
  );
}

interface TextAreaProps extends TextProps {
  readonly rows?: number;
}

export function TextArea({ rows = 6, value, placeholder, onInput, onCommit, ...labels }: TextAreaProps): ReactNode {
  const ref = useLabeledControl(labels);
  return (
    <vscode-text-area
      ref={ref}
      className={getFieldClass('wide', labels)}
      value={value}
      rows={rows}
      resize="vertical"
      placeholder={placeholder ?? ''}
      onInput={(event) => {
        onInput(getInputValue(event));
      }}
      onBlur={(event) => {
        onCommit(getInputValue(event));
      }}
    />
  );
}

const getFieldClass = (width: string, { invalid = false }: FieldLabels): string =>
  invalid ? `${width} invalid` : width;
