import type * as z from 'zod';

/** Describes a schema violation, to be appended to the field's name. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return isMissingFieldIssue(issue)
        ? 'is missing'
        : `must be ${addArticle(issue.expected === 'int' ? 'whole number' : issue.expected)}`;
    case 'too_small':
      if (issue.origin === 'string')
        return isEmptyTextIssue(issue) ? 'is missing' : `needs ${issue.minimum} characters`;
      return issue.origin === 'array'
        ? `needs ${issue.minimum} or more entries`
        : `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `has more than ${issue.maximum} characters`;
      return issue.origin === 'array'
        ? `has more than ${issue.maximum} ${Number(issue.maximum) === 1 ? 'entry' : 'entries'}`
        : `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'invalid_value':
      return `must be ${formatChoices(issue.values)}`;
    case 'invalid_union':
      return 'options' in issue ? `must be ${formatChoices(issue.options)}` : issue.message;
    case 'invalid_format':
      return issue.format === 'url' ? 'is not a URL that begins with https:// or http://' : issue.message;
    default:
      return issue.message;
  }
}

const formatChoices = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(' or ');

/** Zod 4 reveals a missing value only in the issue's message. */
const isMissingFieldIssue = ({ message }: z.core.$ZodIssue): boolean => message.endsWith('received undefined');

const isEmptyTextIssue = ({ minimum }: { readonly minimum: number | bigint }): boolean => Number(minimum) === 1;

const addArticle = (type: string): string => `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
