import { useId, type ReactNode } from 'react';
import type { FieldLabels } from './labelled';

interface ComboboxProps extends FieldLabels {
  readonly value: string;
  /** Offered while the user types; any other text is accepted, too. */
  readonly choices: readonly string[];
  readonly placeholder?: string;
  /** Called on each key, and when the user picks a choice. */
  readonly onInput: (value: string) => void;
  /** Called when the field loses focus, or on Enter. */
  readonly onCommit: (value: string) => void;
}

/**
 * Native, because the toolkit has no such field and its text field can't use a `datalist` of the
 * page.
 */
export function Combobox({
  label,
  help,
  invalid = false,
  value,
  choices,
  placeholder,
  ...on
}: ComboboxProps): ReactNode {
  const listId = useId();
  return (
    <>
      <input
        className={invalid ? 'combo invalid' : 'combo'}
        list={listId}
        value={value}
        placeholder={placeholder}
        aria-label={label}
        aria-description={help}
        aria-invalid={invalid}
        spellCheck={false}
        onChange={(event) => {
          on.onInput(event.target.value);
        }}
        onBlur={(event) => {
          on.onCommit(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') on.onCommit(event.currentTarget.value);
        }}
      />
      <datalist id={listId}>
        {choices.map((choice) => (
          <option key={choice} value={choice} />
        ))}
      </datalist>
    </>
  );
}
