/**
 * Two closed lists: the operations that a pass can be told to run, and the outcomes that an edit can have, with their words,
 * letters and colours. A new operation doesn't compile before it has its row here, its schema
 * (`providers/smart/operationSchema.ts`) and its work (`providers/smart/individual.ts`).
 */

interface OutcomeRow {
  /** Stands beside the colour in the strip of messages, for people who don't see it. */
  readonly letter: string;
  /** English, as a key of translations; so is the help. */
  readonly label: string;
  readonly help: string;
  /** Id of a colour of VS Code's themes; `line`: that of the panel's lines. */
  readonly color: `charts.${string}` | 'line';
}

/** The possible outcomes of a message, from those that lose nothing to those that replace whole messages. */
export const OUTCOMES = {
  kept: { letter: '·', label: 'kept', help: 'stays as it is', color: 'line' },
  referenced: {
    letter: 'R',
    label: 'referenced',
    help: 'what is removed appears elsewhere in the conversation',
    color: 'charts.green',
  },
  outlined: { letter: 'O', label: 'outlined', help: 'only a file’s declarations are kept', color: 'charts.blue' },
  cut: { letter: 'C', label: 'cut', help: 'part of it is removed', color: 'charts.yellow' },
  suppressed: { letter: 'S', label: 'suppressed', help: 'all of it is removed', color: 'charts.red' },
  summarized: { letter: 'M', label: 'summarized', help: 'a model’s summary replaces it', color: 'charts.purple' },
} as const satisfies Readonly<Record<string, OutcomeRow>>;

export type EditOutcome = keyof typeof OUTCOMES;

/** All outcomes, in the table's order. */
export const EDIT_OUTCOMES = Object.keys(OUTCOMES) as readonly EditOutcome[];

interface OperationRow {
  /** In the panel's forms. English, as a key of translations. */
  readonly label: string;
  /** The outcome in the strip of messages. */
  readonly outcome: EditOutcome;
  /** The past participle that markers and reasons use. */
  readonly done: string;
  readonly callsModel: boolean;
  /** `conversation`: it weighs contents against each other, so it runs once for all of them, before the others. */
  readonly worksOn: 'nothing' | 'content' | 'conversation';
  /** Set where it can only be chosen for the results of tools. */
  readonly onlyResults?: true;
}

/** The operations that can be configured; their keys stand in settings and shared presets. */
export const OPERATIONS = {
  keep: { label: 'Keep', outcome: 'kept', done: 'kept', callsModel: false, worksOn: 'nothing' },
  suppress: { label: 'Suppress', outcome: 'suppressed', done: 'suppressed', callsModel: false, worksOn: 'content' },
  truncate: { label: 'Truncate', outcome: 'cut', done: 'truncated', callsModel: false, worksOn: 'content' },
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

/** Those that weigh the conversation as a whole. */
export type ConversationOperation = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]['worksOn'] extends 'conversation' ? Name : never;
}[OperationName];

/** The row of an operation. */
export const operationRow = (name: OperationName): OperationRow => OPERATIONS[name];

/** Whether a stored or typed word is an operation. */
export const isOperation = (word: unknown): word is OperationName =>
  typeof word === 'string' && Object.hasOwn(OPERATIONS, word);

/**
 * The operation of an edit. Beside the operations of passes: `reference` leaves out what stands elsewhere in the view,
 * `restore` gives back what a reference can no longer lead to, `cut` is anything else that Lossless or another extension
 * leaves out.
 */
export type EditOperation = Exclude<OperationName, 'keep'> | 'reference' | 'restore' | 'cut';

/**
 * The outcomes of operations that no pass can be told to run; `by-strictness`: at the same place an earlier step
 * may have left out what stands only in the reference store.
 */
const OTHER_OUTCOMES: Readonly<Record<Exclude<EditOperation, OperationName>, EditOutcome | 'by-strictness'>> = {
  cut: 'cut',
  reference: 'by-strictness',
  restore: 'by-strictness',
};

export const isEditOperation = (word: unknown): word is EditOperation =>
  (isOperation(word) && word !== 'keep') || (typeof word === 'string' && Object.hasOwn(OTHER_OUTCOMES, word));

/** @param isStrict whether all that the edit leaves out stands elsewhere in the view. */
export function outcomeOf(operation: EditOperation, isStrict: boolean): EditOutcome {
  const outcome = isOperation(operation) ? OPERATIONS[operation].outcome : OTHER_OUTCOMES[operation];
  return outcome === 'by-strictness' ? (isStrict ? 'referenced' : 'cut') : outcome;
}

const rankOf = (operation: EditOperation): number => EDIT_OUTCOMES.indexOf(outcomeOf(operation, true));

/** Of several operations at one place the one that changes most. */
export const strongest = (operations: readonly [EditOperation, ...EditOperation[]]): EditOperation =>
  operations.reduce((most, one) => (rankOf(one) > rankOf(most) ? one : most));
