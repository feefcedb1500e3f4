/**
 * Registers the toolkit's components as elements such as `<vscode-button>`. The toolkit is
 * deprecated, so code outside this folder must not depend on it.
 */
import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeCheckbox,
  vsCodeDropdown,
  vsCodeOption,
  vsCodeProgressRing,
  vsCodeTextArea,
  vsCodeTextField,
  type Button,
  type Checkbox,
  type Dropdown,
  type Option,
  type ProgressRing,
  type TextArea,
  type TextField,
} from '@vscode/webview-ui-toolkit';
import type { HTMLAttributes, RefAttributes } from 'react';

provideVSCodeDesignSystem().register(
  vsCodeButton(),
  vsCodeCheckbox(),
  vsCodeDropdown(),
  vsCodeOption(),
  vsCodeProgressRing(),
  vsCodeTextArea(),
  vsCodeTextField(),
);

type Props<Element, Names extends keyof Element> = HTMLAttributes<HTMLElement> &
  RefAttributes<HTMLElement> &
  Partial<Pick<Element, Names>>;

declare module 'react' {
  // TypeScript looks elements up in React's namespace.
  // oxlint-disable-next-line typescript/no-namespace -- see above
  namespace JSX {
    interface IntrinsicElements {
      'vscode-button': Props<Button, 'appearance'>;
      'vscode-checkbox': Props<Checkbox, 'checked'>;
      'vscode-dropdown': Props<Dropdown, 'value'>;
      'vscode-option': Props<Option, 'value' | 'selected'>;
      'vscode-progress-ring': Props<ProgressRing, never>;
      'vscode-text-area': Props<TextArea, 'value' | 'rows' | 'resize' | 'placeholder'>;
      'vscode-text-field': Props<TextField, 'value' | 'placeholder'>;
    }
  }
}
