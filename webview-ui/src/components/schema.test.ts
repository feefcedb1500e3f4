import { describe, expect, it } from 'vitest';
import { getHelpText, getFieldKind, resolveReference } from './schema';
import { getFieldTitle } from './titles';

describe('the control that the panel shows for a JSON schema', () => {
  it.each([
    ['a switch', { type: 'boolean' }, { kind: 'boolean' }],
    ['a whole number', { type: 'integer' }, { kind: 'number', isInteger: true }],
    ['a line', { type: 'string' }, { kind: 'text', rows: 1 }],
    ['a few lines', { type: 'string', maxLength: 2_000 }, { kind: 'text', rows: 2 }],
    ['a long text', { type: 'string', editPresentation: 'multilineText' }, { kind: 'text', rows: 6 }],
    ['a list of words', { type: 'array', items: { type: 'string' } }, { kind: 'list' }],
    ['some of several', { type: 'array', items: { enum: ['a', 'b'] } }, { kind: 'choices', values: ['a', 'b'] }],
    [
      'fields',
      { type: 'object', properties: { a: { type: 'string' } } },
      { kind: 'group', fields: { a: { type: 'string' } } },
    ],
    ['names of its own', { type: 'object' }, { kind: 'other' }],
    ['objects in a list', { type: 'array', items: { type: 'object' } }, { kind: 'other' }],
    ['anything', {}, { kind: 'other' }],
  ])("is chosen by the schema's type: %s", (_what, schema, kind) => {
    expect(getFieldKind(schema)).toEqual(kind);
  });

  it('is a list of names, even if other values are allowed', () => {
    expect(getFieldKind({ enum: ['a', 'b'], enumItemLabels: ['First', 'Second'] })).toEqual({
      kind: 'choice',
      values: ['a', 'b'],
      labels: ['First', 'Second'],
    });
    expect(getFieldKind({ anyOf: [{ type: 'object' }, { type: 'string', enum: ['far-off'] }] })).toEqual({
      kind: 'choice',
      values: ['far-off'],
      labels: ['Far off'],
    });
  });

  it('is a list of shapes that differ in a constant', () => {
    const shape = (value: string) => ({ type: 'object', properties: { type: { const: value }, count: {} } });
    const kind = getFieldKind({ oneOf: [shape('a'), shape('b')] });
    expect(kind).toMatchObject({ kind: 'variants', key: 'type', variants: [{ value: 'a' }, { value: 'b' }] });
    expect(getFieldKind({ oneOf: [shape('a'), { type: 'object', properties: {} }] })).toEqual({ kind: 'other' });
  });
});

it('references in a JSON schema are followed only inside the document', () => {
  const root = { definitions: { one: { type: 'string', description: 'far' } } };
  expect(resolveReference({ $ref: '#/definitions/one' }, root)).toEqual({ type: 'string', description: 'far' });
  expect(resolveReference({ allOf: [{ $ref: '#/definitions/one' }], description: 'near' }, root)).toEqual({
    type: 'string',
    description: 'near',
  });
  expect(resolveReference({ $ref: '#/definitions/two', title: 'x' }, root)).toEqual({ title: 'x' });
  expect(resolveReference({ $ref: 'https://example.com/schema', type: 'string' }, root)).toEqual({
    $ref: 'https://example.com/schema',
    type: 'string',
  });
});

it('titles and help of fields come from the schema or the name, and bounds are shown if they matter', () => {
  expect(getFieldTitle('maxSummaryLength', {})).toBe('Max summary length');
  expect(getFieldTitle('maxSummaryLength', { title: 'Length' })).toBe('Length');
  expect(getHelpText({ description: 'Lines.', minimum: 1, maximum: 100 })).toBe('Lines. 1 to 100.');
  expect(getHelpText({ description: 'Percent, 5 to 95.', minimum: 5, maximum: 95 })).toBe('Percent, 5 to 95.');
  expect(getHelpText({ description: 'Tokens.', minimum: 0, maximum: 1e15 })).toBe('Tokens.');
  expect(getHelpText({})).toBeUndefined();
});
