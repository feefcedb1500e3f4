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
 * Disabling the element would drop the focus while its action is running, so it only announces that
 * it is disabled.
 */
export function Button({ children, onClick, primary = false, disabled = false, icon }: ButtonProps): ReactNode {
  return (
    <vscode-button
      appearance={primary ? 'primary' : 'secondary'}
      // React writes a boolean on a custom element as an empty attribute.
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
  /** The label is for screen readers and shown as a tooltip. */
  readonly label: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  readonly expanded?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A native button, because the toolkit's hides its name and state in a shadow root. */
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

/** Looks like a link, but runs an action in place. */
export function LinkButton({ children, onClick }: LinkButtonProps): ReactNode {
  return (
    <button type="button" className="link-button" onClick={onClick}>
      {children}
    </button>
  );
}
