/** The configurations that the guide shows are right ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validate } from '../../src/core/condense/config';
import { chooseConfig } from '../../src/core/condense/providers/smart/chooseConfig';
import { strategySchema } from '../../src/core/condense/strategy/strategy';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guide', 'passes.md'), 'utf8');
const examples = [...page.matchAll(/```json\n([^`]*)```/g)].map(([, text = '']) => text.trim());
/** Some examples are settings, without the braces around them. */
const parsed = examples.map(
  (text) => JSON.parse(text.startsWith('{') ? text : `{${text}}`) as Readonly<Record<string, unknown>>,
);
const SMART = 'contextCondenser.smart';
const STRATEGY = 'contextCondenser.strategy';

describe('the guide on passes', () => {
  it('shows passes that are right', () => {
    const configs = parsed.flatMap((example) =>
      SMART in example ? [example[SMART]] : 'mode' in example ? [{ version: 1, passes: [example] }] : [],
    );
    expect(configs).toHaveLength(3);
    for (const config of configs) expect(chooseConfig(config, [])).toMatchObject({ valid: true });
  });

  it('shows a strategy that is right', () => {
    const strategies = parsed.flatMap((example) => (STRATEGY in example ? [example[STRATEGY]] : []));
    expect(strategies).toHaveLength(1);
    for (const strategy of strategies) expect(validate(strategySchema, strategy)).toMatchObject({ valid: true });
  });
});
