/** Tests the summary table of docs/research/benchmarks.md, and that its section can be replaced. */
import { describe, expect, it } from 'vitest';
import type { LosslessRow } from '../bench/losslessBench';
import type { NeedRow } from '../bench/needBench';
import { agentsText, NEED_TITLE } from '../bench/needSection';
import { getSection, replaceSection } from '../bench/pageSection';

const session = (agent: string, chars: number, strict: number, all: number): LosslessRow => ({
  agent,
  project: 'p',
  session: `${agent}-${chars}`,
  chars,
  strict,
  all,
  acrossFiles: all,
  bound: all,
  boundAnywhere: all,
  needed: 0,
  kept: 0,
});

const row = (agent: string, rule: string, removedByRule: number, lostByRule: number, lostByUs: number): NeedRow => ({
  agent,
  rule,
  projects: 1,
  lines: 40,
  removedByRule,
  removedByUs: removedByRule,
  lostByRule,
  lostByUs,
  difference: { mean: 0, low: NaN, high: NaN },
});

describe('the table of needed lines by agent', () => {
  const lossless = [session('codex', 3_000, 300, 600), session('pi', 500, 50, 50), session('codex', 1_000, 500, 600)];
  const rows = [
    row('all', 'mask 20', 0.9, 0.9, 0.9),
    row('codex', 'mask 40', 0.204, 0.0249, 0),
    row('codex', 'newest half', 0.5, 0.3, 0.2),
    row('codex', 'mask 10', 0.756, 0.25, 0.5),
  ];
  const cells = (text: string): string[][] =>
    text
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.slice(2, -2).split(' | '));

  it('weighs sessions by their text and compares each rule’s size and kept lines with File-Aware', () => {
    const [head, , ...agents] = cells(agentsText(lossless, [{ agent: 'codex' }, { agent: 'codex' }], rows));
    expect(head).toEqual([
      ...['agent', 'sessions', 'cuts', 'Lossless, strict', 'Lossless, all', 'needed lines'],
      ...['mask 40', 'mask 20', 'mask 10', 'head and tail 8,000'],
    ]);
    expect(agents).toEqual([
      [
        ...['codex', '2', '2', '20.0 %', '30.0 %', '40'],
        ...['20 %: 97.5 % / 100.0 %', '–', '76 %: 75.0 % / 50.0 %', '–'],
      ],
      ['pi', '1', '0', '10.0 %', '10.0 %', '–', '–', '–', '–', '–'],
    ]);
  });

  it('is omitted if Lossless was not measured', () => {
    expect(agentsText([], [{ agent: 'codex' }], rows)).toBe('');
  });
});

describe('the page of benchmarks', () => {
  const part = `${NEED_TITLE}\n\nnew\n`;

  it('replaces the previous version of a section or appends it', () => {
    expect(replaceSection(`# Page\n\n${NEED_TITLE}\n\nold\n\n## Next\n\nstays\n`, NEED_TITLE, part)).toBe(
      `# Page\n\n${part}\n## Next\n\nstays\n`,
    );
    expect(replaceSection(`# Page\n\n${NEED_TITLE}\n\nold\n`, NEED_TITLE, part)).toBe(`# Page\n\n${part}`);
    expect(replaceSection('# Page\n', NEED_TITLE, part)).toBe(`# Page\n\n${part}`);
  });

  it('returns a section as it was written', () => {
    for (const page of ['# Page\n', `# Page\n\n${NEED_TITLE}\n\nold\n\n## Next\n\nstays\n`])
      expect(getSection(replaceSection(page, NEED_TITLE, part), NEED_TITLE)).toBe(part);
    expect(getSection(`# Page\n\n${NEED_TITLE}, more\n`, NEED_TITLE)).toBeUndefined();
  });
});
