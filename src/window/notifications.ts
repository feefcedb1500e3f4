/**
 * The one edge for words in VS Code's own surfaces: notifications, dialogs, progress, picks, the status bar. In some it makes a link of what
 * looks like one, of a command as well, `[Mend it](command:…)` (`parseLinkedText` in microsoft/vscode: notifications, progress, the message
 * of an input), in others an icon, `$(alert)` (`renderLabelWithIcons`: picks, the status bar). Ours quote files, models and other programs,
 * and hold neither: so none stays one. Lint keeps the functions that these stand for out of all other files; Markdown has its own edge,
 * `markdownText.ts`.
 */
import * as vscode from 'vscode';

/** Words in which VS Code finds no link and no icon. */
export const plainWords = (text: string): string => text.replace(/\](?=\()/g, '] ').replace(/\$(?=\()/g, '$ ');

type Show = typeof vscode.window.showErrorMessage;

// The overloads differ in what follows the message: options with words of their own, and buttons, whose words are shown as they are.
const quoting = (show: () => Show): Show =>
  ((message: string, ...rest: never[]) =>
    show()(
      plainWords(message),
      ...(rest.map((each) => (isModal(each) ? withPlainDetail(each) : each)) as never[]),
    )) as Show;

const isModal = (value: unknown): value is vscode.MessageOptions =>
  typeof value === 'object' && value !== null && 'detail' in value;

const withPlainDetail = (options: vscode.MessageOptions): vscode.MessageOptions => ({
  ...options,
  ...(options.detail !== undefined && { detail: plainWords(options.detail) }),
});

export const showInformationMessage = quoting(() => vscode.window.showInformationMessage);
export const showWarningMessage = quoting(() => vscode.window.showWarningMessage);
export const showErrorMessage = quoting(() => vscode.window.showErrorMessage);

type Report = Parameters<Parameters<typeof vscode.window.withProgress>[1]>[0];

/** `vscode.window.withProgress`, in whose title and steps nothing becomes a link. */
export const showProgress = <R>(
  options: vscode.ProgressOptions,
  task: (report: Report, token: vscode.CancellationToken) => Thenable<R>,
): Thenable<R> =>
  vscode.window.withProgress(
    { ...options, ...(options.title !== undefined && { title: plainWords(options.title) }) },
    (progress, token) =>
      task(
        {
          report: ({ message, ...rest }) => {
            progress.report({ ...rest, ...(message !== undefined && { message: plainWords(message) }) });
          },
        },
        token,
      ),
  );

/**
 * `vscode.window.setStatusBarMessage`.
 * @param icon the name of one of VS Code's icons, in front of the words.
 */
export const showStatus = (words: string, milliseconds: number, icon?: string): vscode.Disposable =>
  vscode.window.setStatusBarMessage(`${icon === undefined ? '' : `$(${icon}) `}${plainWords(words)}`, milliseconds);

type Validation = string | vscode.InputBoxValidationMessage | null | undefined;

const plainValidation = (answer: Validation): Validation =>
  typeof answer === 'string' ? plainWords(answer) : answer && { ...answer, message: plainWords(answer.message) };

/** `vscode.window.showInputBox`; what `validateInput` answers is read like a notification. */
export function askInput(options: vscode.InputBoxOptions): Thenable<string | undefined> {
  const { title, prompt } = options;
  return vscode.window.showInputBox({
    ...options,
    ...(title !== undefined && { title: plainWords(title) }),
    ...(prompt !== undefined && { prompt: plainWords(prompt) }),
    ...(options.validateInput && {
      validateInput: (value: string) => {
        const answer = options.validateInput?.(value);
        return isThenable(answer) ? answer.then(plainValidation) : plainValidation(answer);
      },
    }),
  });
}

const isThenable = (answer: Validation | Thenable<Validation>): answer is Thenable<Validation> =>
  typeof answer === 'object' && answer !== null && 'then' in answer;

/** The icons with which labels of ours begin; of a label of others such a beginning stays, too, and says nothing. */
const OWN_ICON =
  /^\$\((?:add|archive|circle-slash|comment-discussion|copy|debug-pause|debug-start|debug-stop|diff|discard|edit|folder-opened|gear|key|link|list-selection|pin|plug|redo|settings-gear|terminal|tools|trash)\) /;

function plainLabel(label: string): string {
  const [icon = ''] = OWN_ICON.exec(label) ?? [];
  return icon + plainWords(label.slice(icon.length));
}

/** An item of a pick. */
const pickItem = <T extends vscode.QuickPickItem>(item: T): T => ({
  ...item,
  label: plainLabel(item.label),
  ...(item.description !== undefined && { description: plainWords(item.description) }),
  ...(item.detail !== undefined && { detail: plainWords(item.detail) }),
});

/** `vscode.window.showQuickPick` for one item of several; gives back the item itself. */
export async function pickOne<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Promise<T | undefined> {
  const shown = items.map(pickItem);
  const picked = await vscode.window.showQuickPick(shown, withPlainTitle(options));
  return picked && items[shown.indexOf(picked)];
}

/** `vscode.window.showQuickPick` for any of several; gives back the items themselves. */
export async function pickSeveral<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: Omit<vscode.QuickPickOptions, 'canPickMany'>,
): Promise<T[] | undefined> {
  const shown = items.map(pickItem);
  const picked = await vscode.window.showQuickPick(shown, { ...withPlainTitle(options), canPickMany: true });
  return picked && items.filter((_, at) => picked.some((each) => each === shown[at]));
}

const withPlainTitle = (options: vscode.QuickPickOptions): vscode.QuickPickOptions => ({
  ...options,
  ...(options.title !== undefined && { title: plainWords(options.title) }),
  ...(options.placeHolder !== undefined && { placeHolder: plainWords(options.placeHolder) }),
});

/** `vscode.window.createQuickPick`. Its `items` are not the ones that are put there, but {@link pickItem} of each. */
export const createPicker = <T extends vscode.QuickPickItem>(): vscode.QuickPick<T> => {
  const picker = vscode.window.createQuickPick<T>();
  return new Proxy(picker, {
    get: (_, name) => {
      const value: unknown = Reflect.get(picker, name, picker);
      return typeof value === 'function' ? (value.bind(picker) as unknown) : value;
    },
    set: (_, name, value: unknown) => {
      if (name === 'items') picker.items = (value as readonly T[]).map(pickItem);
      else if (name === 'title' || name === 'placeholder') picker[name] = plainWords(String(value));
      else return Reflect.set(picker, name, value, picker);
      return true;
    },
  });
};

interface StatusLook extends Pick<vscode.StatusBarItem, 'backgroundColor' | 'tooltip' | 'accessibilityInformation'> {
  /** The name of one of VS Code's icons, in front of the words. */
  readonly icon: string;
  readonly words: string;
}

/** An item of the status bar. */
export class StatusItem implements vscode.Disposable {
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

  show({ icon, words, ...look }: StatusLook): void {
    Object.assign(this.item, look);
    this.item.text = `$(${icon}) ${plainWords(words)}`;
    this.item.show();
  }

  hide(): void {
    this.item.hide();
  }

  dispose(): void {
    this.item.dispose();
  }
}
