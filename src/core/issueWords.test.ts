import { expect, it } from 'vitest';
import * as z from 'zod';
import { describeIssue } from './issueWords';

const problems = (schema: z.ZodType, value: unknown): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(describeIssue);

it('validation errors are described in plain words', () => {
  const cases: readonly (readonly [z.ZodType, unknown, string])[] = [
    [z.string(), undefined, 'is missing'],
    [z.string(), 3, 'must be a string'],
    [z.array(z.string()), 'a', 'must be an array'],
    [z.string().min(1), '', 'is missing'],
    [z.string().min(3), 'a', 'needs 3 characters'],
    [z.string().max(2), 'abc', 'has more than 2 characters'],
    [z.number().min(5), 4, 'must be at least 5'],
    [z.number().gt(5), 5, 'must be more than 5'],
    [z.number().max(5), 6, 'must be at most 5'],
    [z.number().lt(5), 5, 'must be less than 5'],
    [z.array(z.string()).min(1), [], 'needs 1 or more entries'],
    [z.array(z.string()).max(1), ['a', 'b'], 'has more than 1 entry'],
    [z.enum(['chat', 'responses']), 'x', 'must be "chat" or "responses"'],
    [
      z.discriminatedUnion('mode', [z.object({ mode: z.literal('a') }), z.object({ mode: z.literal('b') })]),
      { mode: 'c' },
      'must be "a" or "b"',
    ],
    [z.url(), 'not a url', 'is not a URL that begins with https:// or http://'],
    [z.string().superRefine((_, context) => context.addIssue({ code: 'custom', message: 'is odd' })), 'x', 'is odd'],
  ];
  for (const [schema, value, words] of cases) expect(problems(schema, value)).toEqual([words]);
  expect(problems(z.email(), 'x')).toEqual(['Invalid email address']);
});
