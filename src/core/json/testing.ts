import * as fc from 'fast-check';

/** Unusual but valid JSON: white space, numbers, strings and keys. */
export const jsonSpaceArbitrary = fc.constantFrom('', '', ' ', '\n', '\t \r\n');
const unusualNumberArbitrary = fc.constantFrom('12345678901234567890', '1e400', '-0', '0.1000', '1E+2', '-1.5e-9');
const escapedStringArbitrary = fc
  .string({ unit: 'binary', maxLength: 8 })
  .map((text) => JSON.stringify(text))
  .chain((json) =>
    fc.constantFrom(json, `"${json.slice(1, -1)}\\u00e9\\/"`, `"\\ud800${json.slice(1, -1)}"`, '"\\\\"', '"\\\\\\""'),
  );
/**
 * No key contains a backslash, since V8 of Node 24 confuses such a key with another escaped key
 * (`{"a":1,"\\\\":2}`, then `{"a":1,"\\u0062":2}`).
 */
const jsonKeyArbitrary = fc.oneof(
  escapedStringArbitrary.filter((name) => !name.includes('\\\\')),
  fc.constantFrom('"a"', '"\\u0061"', '"__proto__"', '"constructor"', '""', '"0"'),
);
export const jsonArbitrary = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(escapedStringArbitrary, unusualNumberArbitrary, fc.constantFrom('true', 'false', 'null')),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), jsonSpaceArbitrary, jsonSpaceArbitrary)
      .map(([items, a, b]) => `[${a}${items.join(`${b},${a}`)}${b}]`),
    fc
      .tuple(
        fc.array(fc.tuple(jsonKeyArbitrary, tie('value')), { maxLength: 4 }),
        jsonSpaceArbitrary,
        jsonSpaceArbitrary,
      )
      .map(
        ([members, a, b]) =>
          `{${a}${members.map(([name, value]) => `${name}${b}:${a}${value}`).join(`${a},${b}`)}${b}}`,
      ),
  ),
})).value;
export const unusualJsonArbitrary = fc
  .tuple(jsonSpaceArbitrary, jsonArbitrary, jsonSpaceArbitrary)
  .map((parts) => parts.join(''));
