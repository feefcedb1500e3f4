/**
 * What a pass can be told to do with a content, and what an edit can have done. Both are closed lists: a new operation
 * doesn't compile before it has its row here, its schema (`providers/smart/operationSchema.ts`) and its work
 * (`providers/smart/individual.ts`).
 */

/**
 * What becomes of a message, from what loses nothing to what takes the place of whole messages. `referenced`: all that
 * was taken out stands elsewhere in the view. `outlined`: a file keeps its declarations. `cut`: a part was taken out.
 * `suppressed`: a whole content was. `summarized`: a model's words stand in its place.
 */
export const EDIT_OUTCOMES = ['kept', 'referenced', 'outlined', 'cut', 'suppressed', 'summarized'] as const;
export type EditOutcome = (typeof EDIT_OUTCOMES)[number];

interface OperationRow {
  /** What the strip of messages shows; the panel has a letter, words and a colour for each outcome. */
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
  keep: { outcome: 'kept', done: 'kept', callsModel: false, worksOn: 'nothing' },
  suppress: { outcome: 'suppressed', done: 'suppressed', callsModel: false, worksOn: 'content' },
  truncate: { outcome: 'cut', done: 'truncated', callsModel: false, worksOn: 'content' },
  summarize: { outcome: 'summarized', done: 'summarized', callsModel: true, worksOn: 'content' },
  outline: { outcome: 'outlined', done: 'outlined', callsModel: false, worksOn: 'conversation', onlyResults: true },
  thin: { outcome: 'cut', done: 'left out', callsModel: false, worksOn: 'conversation' },
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
 * What an edit did. Beside the operations of passes: `reference` leaves out what stands elsewhere in the view, `restore`
 * gives back what a reference can no longer lead to, `cut` is anything else that Lossless or another extension leaves out.
 */
export type EditOperation = Exclude<OperationName, 'keep'> | 'reference' | 'restore' | 'cut';

/**
 * What an edit's operation makes of its message; `by-strictness`: at the same place an earlier step may have left out what
 * stands only in the reference store.
 */
const OUTCOMES: Readonly<Record<EditOperation, EditOutcome | 'by-strictness'>> = {
  suppress: OPERATIONS.suppress.outcome,
  truncate: OPERATIONS.truncate.outcome,
  summarize: OPERATIONS.summarize.outcome,
  outline: OPERATIONS.outline.outcome,
  thin: OPERATIONS.thin.outcome,
  cut: 'cut',
  reference: 'by-strictness',
  restore: 'by-strictness',
};

export const isEditOperation = (word: unknown): word is EditOperation =>
  typeof word === 'string' && Object.hasOwn(OUTCOMES, word);

/** @param isStrict whether all that the edit leaves out stands elsewhere in the view. */
export function outcomeOf(operation: EditOperation, isStrict: boolean): EditOutcome {
  const outcome = OUTCOMES[operation];
  return outcome === 'by-strictness' ? (isStrict ? 'referenced' : 'cut') : outcome;
}

const rankOf = (operation: EditOperation): number => EDIT_OUTCOMES.indexOf(outcomeOf(operation, true));

/** Of several operations at one place the one that changes most. */
export const strongest = (operations: readonly [EditOperation, ...EditOperation[]]): EditOperation =>
  operations.reduce((most, one) => (rankOf(one) > rankOf(most) ? one : most));
