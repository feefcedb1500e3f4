import type { ReactNode, Ref } from 'react';
import { Icon, type IconName } from './Icon';
import './toolkit';

interface ButtonProps {
  readonly children: ReactNode;
  readonly onClick: () => void;
  readonly primary?: boolean;
  readonly disabled?: boolean;
  readonly icon?: IconName;
}

/**
 * A button that can't be used says so but keeps the focus: disabling it would drop the focus while its action is
 * running.
 */
export function Button({ children, onClick, primary = false, disabled = false, icon }: ButtonProps): ReactNode {
  return (
    <vscode-button
      appearance={primary ? 'primary' : 'secondary'}
      // As text: React writes a boolean on a custom element as an empty attribute.
      aria-disabled={disabled ? 'true' : 'false'}
      onClick={disabled ? undefined : onClick}
    >
      {icon && (
        <span slot="start" className="button-icon">
          <Icon name={icon} />
        </span>
      )}
      {children}
    </vscode-button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** Read out, and shown as a tooltip. */
  readonly label: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  readonly expanded?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A native button: the toolkit's hides its name and state in a shadow root. */
export function IconButton({ icon, label, onClick, disabled = false, expanded, ref }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      aria-disabled={disabled}
      aria-expanded={expanded}
      ref={ref}
      onClick={disabled ? undefined : onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

interface LinkButtonProps {
  readonly children: ReactNode;
  readonly onClick: () => void;
}

/** Looks like a link, and does something in place. */
export function LinkButton({ children, onClick }: LinkButtonProps): ReactNode {
  return (
    <button type="button" className="link-button" onClick={onClick}>
      {children}
    </button>
  );
}
