import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { presetFileJsonSchema, settingSchemas } from './schemas';

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

interface Manifest {
  readonly contributes: {
    readonly configuration: { readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
    readonly jsonValidation: readonly { readonly fileMatch: string; readonly url: string }[];
  };
}

// Where one of these fails: node scripts/schemas.mjs
describe('the schemas that the editor knows', () => {
  const { contributes } = read('package.json') as Manifest;

  it.each(Object.entries(settingSchemas()))('%s is the one that follows from its type', (name, schema) => {
    expect(contributes.configuration.properties[name]).toEqual({
      ...(plain(schema) as object),
      default: expect.anything() as unknown,
      scope: expect.any(String) as string,
      order: expect.any(Number) as number,
      markdownDescription: expect.stringMatching(/^%.*%$/) as string,
    });
  });

  it('preset files have theirs, which is contributed for their names', () => {
    expect(read('schemas/preset.schema.json')).toEqual(plain(presetFileJsonSchema()));
    expect(contributes.jsonValidation).toEqual([{ fileMatch: '*.condense.json', url: './schemas/preset.schema.json' }]);
  });
});
