import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTruncatedJson } from './jsonHead';

describe('the beginning of a JSON document', () => {
  it('is parsed to its complete elements and fields', () => {
    expect(parseTruncatedJson('[{"a":1},{"b":2},{"c"')).toEqual([{ a: 1 }, { b: 2 }]);
    expect(parseTruncatedJson(' { "v": 1, "messages": [ {"a": 1}, {"b"')).toEqual({ v: 1, messages: [{ a: 1 }] });
    expect(parseTruncatedJson('{"v":1,"info":{"id":')).toEqual({ v: 1 });
    expect(parseTruncatedJson('{"v":1,"key')).toEqual({ v: 1 });
    expect(parseTruncatedJson('{"v":1,"key"  ')).toEqual({ v: 1 });
    expect(parseTruncatedJson('{"v":12')).toEqual({});
    expect(parseTruncatedJson('[]')).toEqual([]);
  });

  it('is undefined if the text is not JSON at all', () => {
    expect(parseTruncatedJson('')).toBeUndefined();
    expect(parseTruncatedJson('text')).toBeUndefined();
    expect(parseTruncatedJson('[oops')).toEqual([]);
  });

  it('is parsed to the first elements of the array if the document is an array', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 2 })), fc.nat(), (values, cut) => {
        const text = JSON.stringify(values);
        const head = parseTruncatedJson(text.slice(0, 1 + (cut % text.length))) as unknown[];
        expect(head).toEqual((JSON.parse(text) as unknown[]).slice(0, head.length));
      }),
    );
  });
});
