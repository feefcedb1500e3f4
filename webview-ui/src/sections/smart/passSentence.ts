import { OPERATIONS, type OperationName } from '../../../../src/core/condense/edits/operations';
import { capitalize, formatList, formatPercent, t } from '../../l10n';
import { isFields, type PassEntry } from './smartValue';

const VERBS: Readonly<Record<Exclude<OperationName, 'keep'>, (what: string) => string>> = {
  suppress: (what) => t('removes {0}', what),
  truncate: (what) => t('shortens {0}', what),
  summarize: (what) => t('has a model summarize {0}', what),
  outline: (what) => t('keeps only the declarations in {0}', what),
  thin: (what) => t('removes the least needed parts of {0}', what),
};

const CONTENTS = (): Readonly<Record<string, string>> => ({
  toolResults: t('tool results'),
  toolParameters: t('tool parameters'),
  messageText: t('message text'),
});

export function describePass(entry: PassEntry): string {
  const { mode, operations, raw } = entry;
  if (operations.length === 0) return t('Changes nothing.');
  const where = describeSelection(raw['selection']);
  const does =
    mode === 'batch'
      ? t('replaces {0} with one summary by a model', where)
      : t('{0} in {1}', describeOperations(entry), where);
  const when = describeCondition(entry);
  return capitalize(when === '' ? t('{0}.', does) : t('{0}, {1}.', does, when));
}

function describeOperations({ operations, callsModel }: PassEntry): string {
  const names = [...new Set(operations.map(({ operation }) => operation))];
  const parts = names.flatMap((name) => {
    if (name === 'keep') return [];
    const contents = operations
      .filter(({ operation }) => operation === name)
      .map(({ type }) => CONTENTS()[type] ?? type);
    return [VERBS[name](formatList(contents))];
  });
  // Operations on single messages aren't named.
  const isModelNamed = names.some((name) => OPERATIONS[name].callsModel);
  return formatList(callsModel && !isModelNamed ? [...parts, t('may call a model')] : parts);
}

function describeSelection(selection: unknown): string {
  const { type, count, percentage } = isFields(selection) ? selection : {};
  if (type === 'preserve_recent' && typeof count === 'number') {
    return count === 0 ? t('all messages') : t('all but the newest {0} messages', count);
  }
  if (type === 'preserve_percent' && typeof percentage === 'number') {
    return t('all but the newest {0} of the messages', formatPercent(percentage));
  }
  return t('what its filter selects');
}

function describeCondition({ isConditional, raw: { execution } }: PassEntry): string {
  if (!isConditional) return '';
  const condition = isFields(execution) && isFields(execution['condition']) ? execution['condition'] : {};
  const [first, ...others] = Object.entries(condition).filter(([, value]) => value !== undefined);
  const [name, value] = first ?? [];
  if (others.length === 0 && typeof value === 'number') {
    if (name === 'tokenThreshold') return t('if more than {0} tokens are left', value);
    if (name === 'windowPercent') return t('if more than {0} of the window is used', formatPercent(value));
    if (name === 'overTarget' && value === 1) return t('if the target is not met');
  }
  return t('if its condition is met');
}
