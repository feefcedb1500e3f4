import { TOOL_KINDS, type ToolKind } from '../../../../src/core/agents/types';
import { OPERATIONS, type OperationName } from '../../../../src/core/condense/edits/operations';
import { shortenText } from '../../../../src/core/shortened';
import { capitalize, formatList, formatPercent, t } from '../../l10n';
import { isPlainObject, type Fields, type PassEntry } from './smartValue';

const OPERATION_VERBS: Readonly<Record<Exclude<OperationName, 'keep'>, (subject: string) => string>> = {
  suppress: (subject) => t('removes {0}', subject),
  truncate: (subject) => t('shortens {0}', subject),
  summarize: (subject) => t('has a model summarize {0}', subject),
  outline: (subject) => t('keeps only the declarations in {0}', subject),
  thin: (subject) => t('removes the least needed parts of {0}', subject),
};

const getContentNames = (): Readonly<Record<string, string>> => ({
  toolResults: t('tool results'),
  toolParameters: t('tool parameters'),
  messageText: t('message text'),
});

const TOOL_KIND_NAMES = (): Readonly<Record<ToolKind, string>> => ({
  read: t('files that were read'),
  list: t('listings'),
  search: t('searches'),
  command: t('commands'),
  write: t('files that were written'),
  edit: t('edits'),
  plan: t('plans'),
  fetch: t('web pages'),
  agent: t('subagents'),
  other: t('other tools'),
});

export function describePass(entry: PassEntry): string {
  const { mode, operations, raw } = entry;
  if (operations.length === 0) return t('Changes nothing.');
  const { filter, text: selectionText } = readSelection(raw['selection']);
  const subject = mode === 'batch' ? selectionText : describeOperations(entry, filter);
  const selectedText = [subject, ...describeFilter(filter)].join(' ');
  const operationText =
    mode === 'batch'
      ? t('replaces {0} with one summary by a model', selectedText)
      : t('{0} in {1}', selectedText, selectionText);
  const when = describeCondition(entry);
  return capitalize(when === '' ? t('{0}.', operationText) : t('{0}, {1}.', operationText, when));
}

function describeOperations({ operations, callsModel }: PassEntry, { contentTypes }: Fields): string {
  // A filter may leave out some content.
  const isSelected = (type: string): boolean => !Array.isArray(contentTypes) || contentTypes.includes(type);
  const selectedOperations = operations.some(({ type }) => isSelected(type))
    ? operations.filter(({ type }) => isSelected(type))
    : operations;
  const operationNames = [...new Set(selectedOperations.map(({ operation }) => operation))];
  const parts = operationNames.flatMap((name) => {
    if (name === 'keep') return [];
    const contents = selectedOperations
      .filter(({ operation }) => operation === name)
      .map(({ type }) => getContentNames()[type] ?? type);
    return [OPERATION_VERBS[name](formatList(contents))];
  });
  // Operations on single messages aren't named.
  const isModelNamed = operationNames.some((name) => OPERATIONS[name].callsModel);
  return formatList(callsModel && !isModelNamed ? [...parts, t('may call a model')] : parts);
}

/**
 * Returns the messages that a pass works on, and the filter on their content, which is empty if
 * there is none.
 */
function readSelection(selection: unknown): { readonly filter: Fields; readonly text: string } {
  const { type, count, percentage, filter } = isPlainObject(selection) ? selection : {};
  if (type === 'preserve_recent' && typeof count === 'number') return { filter: {}, text: describeNewest(count) };
  if (type === 'preserve_percent' && typeof percentage === 'number')
    return { filter: {}, text: t('all but the newest {0} of the messages', formatPercent(percentage)) };
  const conditions = isPlainObject(filter) ? filter : {};
  return { filter: conditions, text: describeAge(conditions['age']) };
}

const describeNewest = (count: number): string =>
  count === 0
    ? t('all messages')
    : count === 1
      ? t('all but the newest message')
      : t('all but the newest {0} messages', count);

/** @param age a filter's `min` and `max` number of newer messages */
function describeAge(age: unknown): string {
  const { min = 0, max } = isPlainObject(age) ? age : {};
  if (typeof min !== 'number') return t('all messages');
  if (typeof max !== 'number') return describeNewest(min);
  const newest = max === 0 ? t('the newest message') : t('the newest {0} messages', max + 1);
  if (min === 0) return newest;
  return min === 1 ? t('{0}, but not the newest one', newest) : t('{0}, but not the newest {1}', newest, min);
}

/** Returns phrases such as "of commands" and "of at least 500 tokens". */
function describeFilter(filter: Fields): string[] {
  const { kinds, tools, files, roles, isError, minTokens, contains, and, or, not } = filter;
  const listStrings = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
  const names = TOOL_KIND_NAMES();
  const kindNames = listStrings(kinds).map((kind) => (isToolKind(kind) ? names[kind] : kind));
  const [role, ...otherRoles] = listStrings(roles);
  return [
    ...(kindNames.length === 0 ? [] : [t('of {0}', formatList(kindNames))]),
    ...(listStrings(tools).length === 0 ? [] : [t('of the tools {0}', formatList(listStrings(tools)))]),
    ...(listStrings(files).length === 0 ? [] : [t('of the files {0}', formatList(listStrings(files)))]),
    ...(role === undefined || otherRoles.length > 0
      ? []
      : [role === 'user' ? t('from the user') : t('from the assistant')]),
    ...(typeof isError !== 'boolean' ? [] : [isError ? t('of failed calls') : t('of calls that did not fail')]),
    ...(typeof minTokens === 'number' ? [t('of at least {0} tokens', minTokens)] : []),
    ...(typeof contains === 'string' ? [t('that contain “{0}”', shortenText(contains, MAX_QUOTED_CHARS))] : []),
    ...([and, or, not].some((each) => each !== undefined) ? [t('for which its other conditions hold')] : []),
  ];
}

/** Maximum number of characters that are shown of a text that a filter looks for. */
const MAX_QUOTED_CHARS = 30;

const isToolKind = (kind: string): kind is ToolKind => TOOL_KINDS.some((known) => known === kind);

function describeCondition({ isConditional, raw: { execution } }: PassEntry): string {
  if (!isConditional) return '';
  const condition = isPlainObject(execution) && isPlainObject(execution['condition']) ? execution['condition'] : {};
  const [first, ...others] = Object.entries(condition).filter(([, value]) => value !== undefined);
  const [name, value] = first ?? [];
  if (others.length === 0 && typeof value === 'number') {
    if (name === 'tokenThreshold') return t('if more than {0} tokens are left', value);
    if (name === 'windowPercent') return t('if more than {0} of the window is used', formatPercent(value));
    if (name === 'overTarget' && value === 1) return t('while too much remains');
  }
  return t('if its conditions hold');
}
