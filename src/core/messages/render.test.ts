import { expect, it } from 'vitest';
import { assistant, call, makeToolExchange, result, user } from '../testing';
import { SUMMARY_ORIGIN } from './firewall';
import { renderConversation } from './render';

it('a conversation is rendered as readable text', () => {
  const image = { type: 'image', source: {} };
  const text = renderConversation([
    user('Add a test'),
    { role: 'assistant', content: 'Yes.' },
    assistant(
      { type: 'thinking', thinking: 'Where?' },
      call('a', 'Edit', { path: 'a.ts', new_string: 'one\ntwo', count: 2 }),
      call('b', 'Odd', 'no object'),
      call('c', 'Odd', null),
    ),
    user(
      result('a', 'done'),
      result('b', 'no', { is_error: true }),
      result('gone', [{ type: 'text', text: 'x' }, image]),
      result('c'),
    ),
    user({ type: 'document', source: {} }),
  ]);
  expect(text).toBe(
    [
      '━━━ 1 · user ━━━',
      'Add a test',
      '',
      '━━━ 2 · assistant ━━━',
      'Yes.',
      '',
      '━━━ 3 · assistant ━━━',
      '▹ thinking',
      'Where?',
      '▶ Edit',
      'path: a.ts',
      'new_string:',
      'one',
      'two',
      'count: 2',
      '▶ Odd',
      '"no object"',
      '▶ Odd',
      'null',
      '',
      '━━━ 4 · tool result ━━━',
      '◀ result of Edit a.ts',
      'done',
      '◀ error of Odd',
      'no',
      '◀ result of gone',
      'x',
      '▫ image',
      '◀ result of Odd',
      '',
      '',
      '━━━ 5 · user ━━━',
      '▫ document',
      '',
    ].join('\n'),
  );
});

it("a rendered condensed conversation keeps the original's message numbers, so that both sides of a diff match", () => {
  const view = [user('task'), user('what was done'), assistant('go on')];
  expect(renderConversation(view, [0, SUMMARY_ORIGIN, 7]).match(/━━━ .* ━━━/g)).toEqual([
    '━━━ 1 · user ━━━',
    '━━━ summary · user ━━━',
    '━━━ 8 · assistant ━━━',
  ]);
});

it("a rendered tool result is named by its call's file or command", () => {
  const shown = (name: string, input: unknown): string | undefined =>
    renderConversation([assistant(call('a', name, input)), user(result('a', 'done'))])
      .split('\n')
      .find((line) => line.startsWith('◀'));
  expect(shown('read', { filePath: '/w/a.ts', offset: 3 })).toBe('◀ result of read /w/a.ts');
  expect(shown('exec_command', { cmd: "sed -n '1,9p' a.ts" })).toBe("◀ result of exec_command: sed -n '1,9p' a.ts");
  expect(shown('Bash', { command: `\ncat <<EOF > a.ts\none\nEOF` })).toBe('◀ result of Bash: cat <<EOF > a.ts');
  expect(shown('Bash', { command: 'x'.repeat(200) })).toBe(`◀ result of Bash: ${'x'.repeat(99)}…`);
  expect(shown('Bash', { command: '😀'.repeat(99) })).toBe(`◀ result of Bash: ${'😀'.repeat(49)}\uFFFD…`);
  expect(shown('Bash', { command: ' ' })).toBe('◀ result of Bash');
  expect(shown('todo', { items: [] })).toBe('◀ result of todo');
});

it('a rendered tool result has the same name on both sides of a diff, whatever was removed from its call', () => {
  const original = [user('task'), ...makeToolExchange('a', 'Bash', { command: 'npm test' }, 'done')];
  const view = [user('task'), ...makeToolExchange('a', 'Bash', { command: '⟦condensed⟧' }, 'done')];
  const name = '◀ result of Bash: npm test';
  expect(renderConversation(original)).toContain(name);
  expect(renderConversation(view, [0, 1, 2], original)).toContain(name);
  expect(renderConversation([user('done')], [SUMMARY_ORIGIN], original)).not.toContain(name);
});
