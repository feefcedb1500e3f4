import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommandSteps, detectShell } from './commandSteps';
import { describeSteps } from './testingTable';

interface Row {
  readonly line: string;
  readonly steps: readonly string[];
}

/** Parses the table of command lines. The head of its file explains the format. */
function parseRows(table: string): Row[] {
  return table
    .split('\n\n')
    .filter((block) => block.startsWith('$ '))
    .map((block) => {
      const lines = block.trimEnd().split('\n');
      const command = lines.filter((line) => !line.startsWith('  '));
      return {
        line: command.map((line, at) => (at === 0 ? line.slice(2) : line.slice(2))).join('\n'),
        steps: lines.filter((line) => line.startsWith('  ') && line !== '  -').map((line) => line.slice(2)),
      };
    });
}

const rows = parseRows(readFileSync(new URL('../../../../test/fixtures/commands.txt', import.meta.url), 'utf8'));

describe('the table that says what command lines do', () => {
  it('knows more than 300 kinds of them', () => {
    expect(new Set(rows.map(({ line }) => line)).size).toBeGreaterThan(300);
  });

  it.each(rows)('is right about: $line', ({ line, steps }) => {
    expect(describeSteps(parseCommandSteps(line, { shell: 'sh' }))).toEqual(steps);
  });
});

describe('a command line', () => {
  it("is recognized as a shell's or PowerShell's", () => {
    expect(detectShell('Get-Content a.txt | Select-Object -First 3')).toBe('powershell');
    expect(detectShell('$env:X = 1; npm test')).toBe('powershell');
    expect(detectShell('cat a.txt')).toBe('sh');
    // PowerShell text in a here-document is not PowerShell.
    expect(detectShell("cat > a.md <<'EOF'\nGet-Content a\nEOF")).toBe('sh');
  });

  it('is interpreted from the folder that it was started in', () => {
    expect(describeSteps(parseCommandSteps('cat a.c; cd .. && cat b.c', { folder: '/repo/src' }))).toEqual([
      'read /repo/src/a.c 1-$',
      '&& read /repo/b.c 1-$',
    ]);
  });

  it.each(["cat > a.txt <<'EOF'\none\ntwo\nEOF", "bash -lc 'cat > a.txt <<X\none\ntwo\nX'"])(
    'is parsed with the position of the text that it writes to a file: %s',
    (line) => {
      const steps = parseCommandSteps(line, { shell: 'sh' });
      const effect = steps?.flatMap(({ effects }) => effects)[0];
      if (effect?.kind !== 'write') return;
      expect(effect.sourceSlice && line.slice(effect.sourceSlice.start, effect.sourceSlice.end)).toBe(effect.text);
    },
  );

  it('is parsed only up to a reasonable size', () => {
    expect(parseCommandSteps(`cat a.c ${'<<E '.repeat(65)}`)).toBeUndefined();
    expect(parseCommandSteps('cat a.c\n'.repeat(401), { shell: 'sh' })).toBeUndefined();
  });

  it('is not parsed if it is for PowerShell', () => {
    expect(parseCommandSteps('Get-Content a.c')).toBeUndefined();
    expect(parseCommandSteps('cat a.c', { shell: 'powershell' })).toBeUndefined();
  });

  it('made of any text is parsed without an error', () => {
    const pieces = [
      'cat ',
      'sed -n ',
      "'1,2p' ",
      'a.c',
      '<<E',
      '\nE\n',
      '|',
      '&&',
      ';',
      '"',
      "'",
      '$(',
      ')',
      '{',
      '}',
      '`',
      '\n',
      'cd ',
      '>',
      '-n ',
      "@'\n",
      "\n'@",
      '$x',
      '#',
      '\\',
      'for f in ',
      'do ',
      'done',
      'if ',
      'then ',
      'fi',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 })), { maxLength: 30 }),
        (parts) => {
          parseCommandSteps(parts.join(''), { shell: 'sh' });
        },
      ),
    );
  });
});
