import { getFieldTitle, formatFieldName } from '../../components/titles';
import { formatNumber, t } from '../../l10n';

/** Keys that only group other keys and can be left out of a path. */
const GROUPING_FIELDS: ReadonlySet<string> = new Set([
  'individualConfig',
  'batchConfig',
  'defaults',
  'losslessPrelude',
  'operations',
  'filter',
  'condition',
]);

/** Turns "individualConfig, defaults, toolResults, maxLines" into "Tool results › Lines". */
export function describeSettingPath(path: readonly string[]): string {
  const shownKeys = path.filter((key, index) => index === path.length - 1 || !GROUPING_FIELDS.has(key));
  return shownKeys.map((key) => getFieldTitle(key, {})).join(' › ');
}

export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'boolean':
      return value ? t('yes') : t('no');
    case 'number':
      return formatNumber(value);
    case 'string':
      return value === '' ? t('none') : describeFieldName(value);
    case 'undefined':
      return '–';
    default:
      if (!Array.isArray(value)) return JSON.stringify(value);
      return value.length === 0 ? t('none') : value.map(describeValue).join(', ');
  }
}

/** Text that the user wrote stays as it is. */
const describeFieldName = (text: string): string =>
  /^[a-z]+(?:[_A-Z][a-z]*)*$/.test(text) ? t(formatFieldName(text)) : text;
