/**
 * Only this file shows text in VS Code's own UI; lint bans the original functions elsewhere. VS
 * Code turns `[Fix it](command:…)` into a link and `$(alert)` into an icon (microsoft/vscode,
 * `parseLinkedText`, `renderLabelWithIcons`). Our text quotes files, models and programs, so both
 * are escaped.
 */
import * as vscode from 'vscode';

/** Keeps VS Code from turning parts of the text into links and icons. */
export const escapeLinks = (text: string): string => text.replace(/\](?=\()/g, '] ').replace(/\$(?=\()/g, '$ ');

type ShowMessage = typeof vscode.window.showErrorMessage;

// VS Code shows the text of buttons literally; only options contain more text to escape.
const wrapShowMessageWithEscaping = (show: () => ShowMessage): ShowMessage =>
  ((message: string, ...rest: never[]) =>
    show()(
      escapeLinks(message),
      ...(rest.map((each) => (isModalOptions(each) ? escapeMessageDetail(each) : each)) as never[]),
    )) as ShowMessage;

const isModalOptions = (value: unknown): value is vscode.MessageOptions =>
  typeof value === 'object' && value !== null && 'detail' in value;

const escapeMessageDetail = (options: vscode.MessageOptions): vscode.MessageOptions => ({
  ...options,
  ...(options.detail !== undefined && { detail: escapeLinks(options.detail) }),
});

export const showInformationMessage = wrapShowMessageWithEscaping(() => vscode.window.showInformationMessage);
export const showWarningMessage = wrapShowMessageWithEscaping(() => vscode.window.showWarningMessage);
export const showErrorMessage = wrapShowMessageWithEscaping(() => vscode.window.showErrorMessage);

type ProgressReporter = Parameters<Parameters<typeof vscode.window.withProgress>[1]>[0];

/** `vscode.window.withProgress` with escaped titles and steps. */
export const showProgress = <R>(
  options: vscode.ProgressOptions,
  task: (report: ProgressReporter, token: vscode.CancellationToken) => Thenable<R>,
): Thenable<R> =>
  vscode.window.withProgress(
    { ...options, ...(options.title !== undefined && { title: escapeLinks(options.title) }) },
    (progress, token) =>
      task(
        {
          report: ({ message, ...rest }) => {
            progress.report({ ...rest, ...(message !== undefined && { message: escapeLinks(message) }) });
          },
        },
        token,
      ),
  );

export const showStatusMessage = (words: string, milliseconds: number, icon?: string): vscode.Disposable =>
  vscode.window.setStatusBarMessage(`${icon === undefined ? '' : `$(${icon}) `}${escapeLinks(words)}`, milliseconds);

type InputValidation = string | vscode.InputBoxValidationMessage | null | undefined;

const escapeInputValidation = (answer: InputValidation): InputValidation =>
  typeof answer === 'string' ? escapeLinks(answer) : answer && { ...answer, message: escapeLinks(answer.message) };

/** `vscode.window.showInputBox` with escaped text, also in answers of `validateInput`. */
export function askInput(options: vscode.InputBoxOptions): Thenable<string | undefined> {
  const { title, prompt } = options;
  return vscode.window.showInputBox({
    ...options,
    ...(title !== undefined && { title: escapeLinks(title) }),
    ...(prompt !== undefined && { prompt: escapeLinks(prompt) }),
    ...(options.validateInput && {
      validateInput: (value: string) => {
        const answer = options.validateInput?.(value);
        return isThenableValidation(answer) ? answer.then(escapeInputValidation) : escapeInputValidation(answer);
      },
    }),
  });
}

const isThenableValidation = (
  answer: InputValidation | Thenable<InputValidation>,
): answer is Thenable<InputValidation> => typeof answer === 'object' && answer !== null && 'then' in answer;

/** Icons with which our own labels begin. In an untrusted label they are harmless. */
const OWN_ICON_PATTERN =
  /^\$\((?:add|archive|circle-slash|comment-discussion|copy|debug-pause|debug-start|debug-stop|diff|discard|edit|folder-opened|gear|key|link|list-selection|pin|plug|redo|settings-gear|terminal|tools|trash)\) /;

function escapeItemLabel(label: string): string {
  const [icon = ''] = OWN_ICON_PATTERN.exec(label) ?? [];
  return icon + escapeLinks(label.slice(icon.length));
}

const escapePickItem = <T extends vscode.QuickPickItem>(item: T): T => ({
  ...item,
  label: escapeItemLabel(item.label),
  ...(item.description !== undefined && { description: escapeLinks(item.description) }),
  ...(item.detail !== undefined && { detail: escapeLinks(item.detail) }),
});

/** Lets the user pick from escaped items, and returns the original one. */
export async function pickOneItem<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Promise<T | undefined> {
  const escapedItems = items.map(escapePickItem);
  const pickedItem = await vscode.window.showQuickPick(escapedItems, escapePickOptions(options));
  return pickedItem && items[escapedItems.indexOf(pickedItem)];
}

/** Lets the user pick from escaped items, and returns the original ones. */
export async function pickSeveralItems<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: Omit<vscode.QuickPickOptions, 'canPickMany'>,
): Promise<T[] | undefined> {
  const shown = items.map(escapePickItem);
  const pickedItems = await vscode.window.showQuickPick(shown, { ...escapePickOptions(options), canPickMany: true });
  return pickedItems && items.filter((_, at) => pickedItems.some((each) => each === shown[at]));
}

const escapePickOptions = (options: vscode.QuickPickOptions): vscode.QuickPickOptions => ({
  ...options,
  ...(options.title !== undefined && { title: escapeLinks(options.title) }),
  ...(options.placeHolder !== undefined && { placeHolder: escapeLinks(options.placeHolder) }),
});

/** The picker's `items` are the results of {@link escapePickItem}, not the originals. */
export const createPicker = <T extends vscode.QuickPickItem>(): vscode.QuickPick<T> => {
  const picker = vscode.window.createQuickPick<T>();
  return new Proxy(picker, {
    get: (_, name) => {
      const value: unknown = Reflect.get(picker, name, picker);
      return typeof value === 'function' ? (value.bind(picker) as unknown) : value;
    },
    set: (_, name, value: unknown) => {
      if (name === 'items') picker.items = (value as readonly T[]).map(escapePickItem);
      else if (name === 'title' || name === 'placeholder') picker[name] = escapeLinks(String(value));
      else return Reflect.set(picker, name, value, picker);
      return true;
    },
  });
};

interface StatusBarAppearance extends Pick<
  vscode.StatusBarItem,
  'backgroundColor' | 'tooltip' | 'accessibilityInformation'
> {
  readonly icon: string;
  readonly text: string;
}

export class EscapedStatusBarItem implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;

  constructor(
    id: string,
    alignment: vscode.StatusBarAlignment,
    priority: number,
    click: { name: string; command: string },
  ) {
    this.item = vscode.window.createStatusBarItem(id, alignment, priority);
    Object.assign(this.item, click);
  }

  show({ icon, text, ...look }: StatusBarAppearance): void {
    Object.assign(this.item, look);
    this.item.text = `$(${icon}) ${escapeLinks(text)}`;
    this.item.show();
  }

  hide(): void {
    this.item.hide();
  }

  dispose(): void {
    this.item.dispose();
  }
}
