import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../messages/types';
import { assistant, call, makeToolExchange, makeLines, result, user } from '../testing';
import { MessageCounter } from '../tokens/messageCounter';
import { computeComposition } from './composition';
import { listRequests } from './replay';

const counter = new MessageCounter({ count: (text) => text.length });

/** Computes the composition with one more answer, so that each message was sent. */
const composeWithAnswer = (messages: readonly ApiMessage[], fixed = 0) => {
  const all = [...messages, assistant('end')];
  return computeComposition(all, listRequests(all, counter, []), counter, fixed);
};
const TASK = user('task');

describe("the parts of a session's content", () => {
  it.each([
    ['read', 'reads', 'Read', { file_path: '/a.ts' }],
    ['command', 'commands', 'Bash', { command: 'ls' }],
    ['search', 'search', 'Grep', { pattern: 'x' }],
    ['list', 'search', 'LS', { path: '/' }],
    ['write', 'otherResults', 'Write', { file_path: '/a.ts', content: 'x' }],
    ['tool that nobody knows', 'otherResults', 'ponder', { about: 'life' }],
  ] as const)('count the result of a %s among %s', (_, kind, tool, input) => {
    const { parts } = composeWithAnswer([TASK, ...makeToolExchange('x', tool, input, 'r'.repeat(70))]);
    expect(parts[kind]).toBe(70);
    for (const other of ['reads', 'commands', 'search', 'otherResults'] as const)
      if (other !== kind) expect(parts[other]).toBe(0);
  });

  it('count a read as repeated if at least half of its lines were shown before', () => {
    const read = (id: string, text: string, fields = {}) =>
      makeToolExchange(id, 'Read', { file_path: '/a.ts' }, text, fields);
    const [first, other] = [makeLines('first', 4), makeLines('other', 4)];
    const { parts, files } = composeWithAnswer([TASK, ...read('1', first), ...read('2', other), ...read('3', first)]);
    // Each later answer sends a result again: three send the first result, one the last.
    expect(parts.readAgain).toBe(first.length);
    expect(parts.reads).toBe(3 * first.length + 2 * other.length);
    expect(files).toEqual([{ path: '/a.ts', reads: 3, tokens: 2 * first.length + other.length }]);
    // An error shows no part of the file.
    const failed = composeWithAnswer([TASK, ...read('1', first, { is_error: true }), ...read('2', first)]);
    expect(failed.parts.readAgain).toBe(0);
    expect(failed.files).toEqual([]);
  });

  it("separate people's words, the agent's words, and what the agent adds", () => {
    const tagged = 'Mend it\n<system-reminder>Be good</system-reminder>';
    const { parts } = composeWithAnswer([{ role: 'system', content: 'rules' }, user(tagged)]);
    expect(parts.people).toBeGreaterThanOrEqual('Mend it'.length);
    expect(parts.people).toBeLessThan('Mend it\n<system-reminder>'.length);
    expect(parts.people + parts.agent).toBe('rules'.length + tagged.length);
  });

  it('count thinking, images anywhere, calls and prose', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo' } };
    const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
    const { parts } = composeWithAnswer([
      user('look', image),
      assistant(thought, 'I see', call('x', 'ponder', { about: 'life' })),
      user(result('x', [{ type: 'text', text: 'so' }, image])),
    ]);
    // Both requests sent the first image.
    expect(parts.images).toBe(3 * counter.countBlock(image));
    expect(parts.thinking).toBe(counter.countBlock(thought));
    expect(parts.prose).toBe('I see'.length);
    expect(parts.calls).toBe('life'.length);
    expect(parts.otherResults).toBe('so'.length);
  });

  it.each(['isSummary', 'isCompactSummary'])('count a summary as a whole if it is marked with %s', (mark) => {
    const summary = { ...user('They spoke.'), [mark]: true };
    const { parts } = composeWithAnswer([summary]);
    expect(parts).toMatchObject({ summaries: counter.countMessage(summary), people: 0, agent: 0 });
  });

  it('count tokens for each request that contained them, and tokens that were sent more than ten times', () => {
    const turns = Array.from({ length: 11 }, () => [assistant('a'), user('b')]).flat();
    const { parts, sentOften } = composeWithAnswer([TASK, ...turns], 100);
    // All twelve requests contain the task, and eleven or fewer each turn.
    expect(parts.fixed).toBe(1_200);
    expect(parts.people).toBe(12 * 'task'.length + 66);
    expect(sentOften).toBe(
      2 * 100 + 2 * counter.countMessage(TASK) + counter.countMessage(assistant('a')) + counter.countMessage(user('b')),
    );
  });

  it('exclude content that was never sent', () => {
    expect(composeWithAnswer([]).parts.prose).toBe(0);
    expect(computeComposition([TASK], [], counter, 5)).toMatchObject({ parts: { people: 0, fixed: 0 }, sentOften: 0 });
  });
});

describe('tool results that were never used', () => {
  const NAMES = `alphaBetaGamma deltaEpsilonZeta etaThetaIota kappaLambdaMu ${'word '.repeat(50)}`;

  it('are listed with their subject if nothing in them was mentioned again', () => {
    const long = `find . \n ${'-name x '.repeat(20)}`;
    const { unused } = composeWithAnswer([TASK, ...makeToolExchange('x', 'Bash', { command: long }, NAMES)]);
    expect(unused).toMatchObject([{ tool: 'Bash', tokens: NAMES.length, sent: 1 }]);
    expect(unused[0]?.what).toMatch(/^find \. -name x/);
    expect(unused[0]?.what).toMatch(/…$/);
    expect(unused[0]?.what.length).toBeLessThanOrEqual(80);
    expect(composeWithAnswer([TASK, ...makeToolExchange('x', 'ponder', {}, NAMES)]).unused).toMatchObject([
      { tool: 'ponder', what: '' },
    ]);
  });

  // These forms come from recorded Codex, Copilot CLI and Claude Code sessions.
  it.each<[tool: string, input: object, what: string, before?: readonly ApiMessage[]]>([
    [
      'exec',
      { input: 'const r = await tools.exec_command({cmd:"npm test","workdir":"/w"}); text(r.output);\n' },
      'npm test',
    ],
    ['exec', { input: 'text(await tools.list_mcp_resources({}));' }, 'text(await tools.list_mcp_resources({}));'],
    ['shell', { command: ['bash', '-lc', 'npm test'] }, 'npm test'],
    [
      'write_stdin',
      { session_id: 8, chars: '' },
      'npm test',
      [
        ...makeToolExchange('a', 'exec_command', { cmd: 'npm test' }, 'Process running with session ID 8\nOutput:'),
        ...makeToolExchange('b', 'exec_command', { cmd: 'npm run dev' }, 'Process running with session ID 80\nOutput:'),
        ...makeToolExchange('c', 'write_stdin', { session_id: 8 }, 'Process running with session ID 8\nOutput:'),
      ],
    ],
    [
      'write_stdin',
      { session_id: 8, chars: '' },
      'npm test',
      [
        ...makeToolExchange('a', 'exec_command', { cmd: 'npm test' }, 'Process running with session ID 8\nOutput:'),
        ...makeToolExchange('b', 'exec_command', { cmd: 'gh run list' }, '[{"id": 8, "run_id": 8}]'),
      ],
    ],
    [
      'wait',
      { cell_id: '18' },
      'npm test',
      makeToolExchange(
        'a',
        'exec',
        { input: 'const r = await tools.exec_command({cmd:"npm test"}); text(r.output);' },
        'Script running with cell ID 18',
      ),
    ],
    [
      'read_bash',
      { shellId: 'dev' },
      'npm test',
      makeToolExchange('a', 'bash', { command: 'npm test', shellId: 'dev' }, ''),
    ],
    [
      'BashOutput',
      { bash_id: 'b1' },
      'npm test',
      makeToolExchange('a', 'Bash', { command: 'npm test' }, 'Command running in background with ID: b1. Output is'),
    ],
    ['write_stdin', { session_id: 9 }, ''],
  ])('of %s %j are described as "%s"', (tool, input, what, before = []) => {
    const { unused } = composeWithAnswer([TASK, ...before, ...makeToolExchange('x', tool, { ...input }, NAMES)]);
    expect(unused).toMatchObject([{ tool, what }]);
  });

  it('are described without a key that the description would otherwise show in part', () => {
    const command = `curl -s ${'-v '.repeat(16)}https://me:hunter22hunter22hunter22@example.org`;
    const [one] = composeWithAnswer([TASK, ...makeToolExchange('x', 'Bash', { command }, NAMES)]).unused;
    expect(one?.what).toMatch(/^curl -s -v .*https:\/\/me:\[key\]/);
  });

  it.each<[string, ApiMessage[]]>([
    [
      'a name was used',
      [...makeToolExchange('x', 'Bash', { command: 'ls' }, NAMES), assistant('Then deltaEpsilonZeta.')],
    ],
    [
      'the file was named',
      [
        ...makeToolExchange('x', 'Read', { file_path: '/a.ts' }, NAMES),
        ...makeToolExchange('y', 'Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' }, 'ok'),
      ],
    ],
    ['the person had named all', [user(NAMES), ...makeToolExchange('x', 'Bash', { command: 'ls' }, NAMES)]],
    ['it is short', makeToolExchange('x', 'Bash', { command: 'ls' }, NAMES.slice(0, 80))],
    ['it has few names', makeToolExchange('x', 'Bash', { command: 'ls' }, 'word '.repeat(100))],
    ['it never came', [assistant(call('x', 'Bash', { command: 'ls' }))]],
  ])('exclude a result if %s', (_, messages) => {
    expect(composeWithAnswer([TASK, ...messages]).unused).toEqual([]);
  });
});
