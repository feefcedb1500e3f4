/** CONTRIBUTING.md lists what else a new operation needs. */

interface EditOutcomeRow {
  /** Shown with the color, for users who cannot see it. */
  readonly letter: string;
  /** In English; also the key of its translation. */
  readonly label: string;
  readonly help: string;
  /** A VS Code theme color; `line` is the panel's line color. */
  readonly color: `charts.${string}` | 'line';
}

/** Ordered from least to most changed. */
export const OUTCOME_ROWS = {
  kept: { letter: '·', label: 'kept', help: 'stays as it is', color: 'line' },
  referenced: {
    letter: 'R',
    label: 'referenced',
    help: 'what is removed appears elsewhere in the conversation',
    color: 'charts.green',
  },
  outlined: { letter: 'O', label: 'outlined', help: 'only a file’s declarations are kept', color: 'charts.blue' },
  cut: { letter: 'C', label: 'cut', help: 'part of it is removed', color: 'charts.yellow' },
  suppressed: { letter: '–', label: 'removed', help: 'all of it is removed', color: 'charts.red' },
  summarized: { letter: 'M', label: 'summarized', help: 'a model’s summary replaces it', color: 'charts.purple' },
} as const satisfies Readonly<Record<string, EditOutcomeRow>>;

export type EditOutcome = keyof typeof OUTCOME_ROWS;

export const EDIT_OUTCOMES = Object.keys(OUTCOME_ROWS) as readonly EditOutcome[];

interface OperationRow {
  readonly label: string;
  readonly outcome: EditOutcome;
  /** Past participle for markers and reasons. */
  readonly done: string;
  readonly callsModel: boolean;
  /**
   * A `conversation` operation compares contents, so it runs once for all contents, before the
   * other operations.
   */
  readonly worksOn: 'nothing' | 'content' | 'conversation';
  /** Set if only tool results can have this operation. */
  readonly onlyResults?: true;
}

/** Settings and shared presets store these keys. */
export const OPERATIONS = {
  keep: { label: 'Keep', outcome: 'kept', done: 'kept', callsModel: false, worksOn: 'nothing' },
  suppress: { label: 'Remove', outcome: 'suppressed', done: 'suppressed', callsModel: false, worksOn: 'content' },
  truncate: { label: 'Shorten', outcome: 'cut', done: 'truncated', callsModel: false, worksOn: 'content' },
  summarize: { label: 'Summarize', outcome: 'summarized', done: 'summarized', callsModel: true, worksOn: 'content' },
  outline: {
    label: 'Outline',
    outcome: 'outlined',
    done: 'outlined',
    callsModel: false,
    worksOn: 'conversation',
    onlyResults: true,
  },
  thin: { label: 'Prune', outcome: 'cut', done: 'left out', callsModel: false, worksOn: 'conversation' },
} as const satisfies Readonly<Record<string, OperationRow>>;

export type OperationName = keyof typeof OPERATIONS;

export type ConversationOperation = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]['worksOn'] extends 'conversation' ? Name : never;
}[OperationName];

export const getOperationRow = (name: OperationName): OperationRow => OPERATIONS[name];

export const isOperation = (word: unknown): word is OperationName =>
  typeof word === 'string' && Object.hasOwn(OPERATIONS, word);

/**
 * `reference` removes what is elsewhere in the view, `restore` puts back what a reference no longer
 * leads to, `cut` is any other cut.
 */
export type EditOperation = Exclude<OperationName, 'keep'> | 'reference' | 'restore' | 'cut';

/** `by-strictness`: depends on whether any step removed text that only the reference store has. */
const OUTCOME_BY_OTHER_OPERATION: Readonly<
  Record<Exclude<EditOperation, OperationName>, EditOutcome | 'by-strictness'>
> = {
  cut: 'cut',
  reference: 'by-strictness',
  restore: 'by-strictness',
};

export const isEditOperation = (word: unknown): word is EditOperation =>
  (isOperation(word) && word !== 'keep') ||
  (typeof word === 'string' && Object.hasOwn(OUTCOME_BY_OTHER_OPERATION, word));

/** @param isStrict whether the rest of the view contains everything removed */
export function getEditOutcome(operation: EditOperation, isStrict: boolean): EditOutcome {
  const outcome = isOperation(operation) ? OPERATIONS[operation].outcome : OUTCOME_BY_OTHER_OPERATION[operation];
  return outcome === 'by-strictness' ? (isStrict ? 'referenced' : 'cut') : outcome;
}

const getOperationRank = (operation: EditOperation): number => EDIT_OUTCOMES.indexOf(getEditOutcome(operation, true));

export const getStrongestOperation = (operations: readonly [EditOperation, ...EditOperation[]]): EditOperation =>
  operations.reduce((most, one) => (getOperationRank(one) > getOperationRank(most) ? one : most));
